// What the stories of the seeded animals are made of. {name}, {he}, {him} and {his} are filled in; {He} and {His} start a sentence.

export const temperaments = ['gentle', 'lively', 'shy', 'clever', 'funny', 'calm'] as const;
export type Temperament = (typeof temperaments)[number];

export interface Stories {
  /** How the animal came to the shelter. */
  readonly past: readonly string[];
  /** The same for one that is not yet a year old, if the others don't fit. */
  readonly youngPast?: readonly string[];
  /** What the animal is like. */
  readonly nature: Readonly<Record<Temperament, readonly string[]>>;
  readonly habits: readonly string[];
  /** Who should adopt it. */
  readonly home: Readonly<Record<Temperament, readonly string[]>>;
}

/** For animals whose nature is that of their species. */
const alike = (texts: readonly string[]): Stories['nature'] => ({
  gentle: texts,
  lively: texts,
  shy: texts,
  clever: texts,
  funny: texts,
  calm: texts,
});

const dogs: Stories = {
  past: [
    '{name} was found at a bus stop on a rainy Tuesday, sitting as if {he} knew the timetable.',
    'When {his} owner moved into a care home, {name} moved in with us, with {his} blanket and a bag of very good references.',
    '{name} grew up on a farm that had six dogs and work for four.',
    'Somebody tied {name} to our gate with a note that said only “sorry”. We have kept the note, and {he} has kept {his} trust in people.',
    '{name} came from a crowded kennel in the south and saw snow for the first time here. {He} thought that it was food.',
    'A hill walker carried {name} down from the mountain in {his} jacket. Nobody ever called to ask after {him}.',
    '{name} lived in a flat with nobody home from eight to six, and {his} family made the hard decision to find {him} more company.',
    '{name} was the last of the litter to be chosen, and then was not chosen after all.',
    'A postman brought {name} in. {He} had followed the round for a week and knew every stop.',
    '{name} is here because of an allergy that nobody had expected. The family still sends photos of {his} old garden.',
    'We don’t know where {name} comes from. {He} walked into our yard one evening, drank for a whole minute, and stayed.',
  ],
  youngPast: [
    '{name} was born under the counter of a hardware shop, on a Sunday, between the rakes.',
    '{name} is one of nine. Eight of them were chosen by colour; {he} was asleep behind the bowl.',
    'Somebody left {name} in our yard in a fruit crate, with two siblings and a hot-water bottle.',
    '{name} was to be a farm dog, but the sheep did not take {him} seriously.',
  ],
  nature: {
    gentle: [
      '{He} leans against your leg when {he} likes you, and {he} likes you.',
      '{He} takes a biscuit from a toddler’s hand as if it were made of glass.',
      'Vets, thunderstorms, the hoover: {he} meets them all with the same soft face.',
      '{name} is the dog that new volunteers are given on their first day, because nothing can go wrong.',
    ],
    lively: [
      '{He} has one speed, and it is the beach.',
      'Throw a ball for {name} and you have a friend; throw it forty times and {he} starts to warm up.',
      '{name} greets every morning as if it had been cancelled and was put back on at the last minute.',
      '{He} runs in circles of joy, wide ones, so clear the coffee table.',
    ],
    shy: [
      'For the first week {name} lived behind the washing machine. Now {he} sleeps with {his} chin on the warden’s boot.',
      '{He} needs a day or two to look at you from a distance. After that, the distance is zero.',
      'Loud voices make {him} small. A quiet one, and a hand held low, and {his} tail begins to move.',
      '{name} does not ask for much. That is easy to overlook, and {he} has been overlooked for long enough.',
    ],
    clever: [
      '{name} has learned to open the feed room. We changed the latch. {He} has learned the new latch.',
      '{He} knows the words walk, lead, park and cheese, and also how to spell them.',
      'Give {him} a puzzle before breakfast and {he} will be a saint until noon.',
      '{He} watches you do a thing once and then stands beside you, ready to help.',
    ],
    funny: [
      '{name} carries a shoe to the door for every visitor. Never a pair; {he} is no fool.',
      '{He} snores like a tractor and wakes {himself} up with it, offended.',
      '{name} barks at {his} reflection and then waits politely for its reply.',
      '{name} sneezes when {he} is excited, and {he} is excited by everything.',
    ],
    calm: [
      '{name} has seen enough of the world to know that most of it is best watched from a cushion.',
      '{He} walks at the pace of a good conversation.',
      'You could read a whole book beside {name}, and {he} would only sigh at the end of each chapter.',
      '{He} asks for little: a sunny step, two short walks, and someone to share the evening news with.',
    ],
  },
  habits: [
    '{He} loves carrots, rain on the roof and being told about your day.',
    '{He} travels well in the car and looks out of the left window only.',
    'On the lead {he} is light as a ribbon, unless there is a duck.',
    '{He} sits, stays and gives a paw, the left one, with some ceremony.',
    'Every evening {he} rearranges {his} blanket for a quarter of an hour and then sleeps beside it.',
    '{He} is clean in the house and sorry in advance about the sofa.',
    'Swimming is {his} great love. Baths are a different matter entirely.',
    '{His} best friend here is an elderly goat, which surprised them both.',
    '{He} hums when {he} is scratched behind the ear. It is a real hum. Come and hear it.',
    'Fireworks worry {him}; a radio and a hand on {his} back put it right.',
    '{He} collects tennis balls and is willing to show you the collection.',
    'At the sound of a crisp packet {he} can pass through walls.',
  ],
  home: {
    gentle: [
      'We are looking for a family that is home a lot and does not mind being followed from room to room.',
      '{He} would be a wonderful first dog.',
    ],
    lively: [
      '{He} needs people who like mud, weather and early mornings.',
      'If your idea of a weekend has hills in it, {name} would like to come along.',
    ],
    shy: [
      'A calm home with a garden and a slow start is all {he} needs. Come by twice before you decide; the second visit will show you why.',
      'An adult home would suit {him} best, with a corner of {his} own and nobody in a hurry.',
    ],
    clever: [
      '{He} wants a job: agility, tracking, finding the keys. Give {him} one, or {he} will choose one.',
      'We hope for someone with time to train, and a sense of humour about who is training whom.',
    ],
    funny: [
      'Anyone who takes {name} home will laugh every day. It is in the contract.',
      '{He} fits into a flat, a farm or a camper van, as long as {he} has an audience.',
    ],
    calm: [
      'A ground floor, a soft bed and a patient heart: that is the whole list.',
      '{He} would be good company for someone who is home during the day.',
    ],
  },
};

const cats: Stories = {
  past: [
    '{name} was born behind the bakery, which explains the standards.',
    'A lorry driver found {name} under the bonnet, warm, oily and furious, two hundred kilometres from home.',
    '{name} lived with an old gentleman for years and knows all the songs of the evening programme.',
    '{name} walked through our open door, inspected every room and signed the lease.',
    'The neighbours fed {name} for a whole winter before one of them thought of asking us.',
    '{name} came with four siblings in a box marked “glasses, fragile”.',
    'A new baby, a small flat, a good family in tears: that is how {name} came to us.',
    '{name} was trapped with a colony at the harbour and turned out to be somebody’s lost cat. We never found out whose.',
    'After {his} owner died, {name} waited for three weeks on the same wall. The postwoman brought {him} here.',
    '{name} was returned to us after a year, through no fault of {his}: the landlord had the last word.',
  ],
  youngPast: [
    '{name} was born behind the bakery, which explains the standards.',
    'A lorry driver found {name} under the bonnet, warm, oily and furious, two hundred kilometres from home.',
    '{name} came with four siblings in a box marked “glasses, fragile”.',
    'A child heard {name} in a drainpipe, and the whole fire brigade heard {him} afterwards.',
  ],
  nature: {
    gentle: [
      '{He} purrs before you touch {him}, to be on the safe side.',
      '{name} sits on whatever you are reading, but only on the part you have finished.',
      '{He} pats your cheek with a paw, claws in, when it is time to get up.',
      'There is no lap that {name} has met and not approved.',
    ],
    lively: [
      '{name} is a small storm with whiskers. The curtains have been warned.',
      '{He} fetches. We did not teach {him}; {he} taught us to throw.',
      'Between four and five in the morning {name} runs the full length of the corridor, for fitness.',
      'Feather, string, shadow, toe: {he} catches them all.',
    ],
    shy: [
      '{name} lives on top of the cupboard and comes down when the room is quiet. Lately {he} has been coming down a lot.',
      '{He} blinks at you slowly from under the chair. Blink back. That is the whole conversation, and it is a good one.',
      'It took a month until {name} slept with {his} eyes closed. Now {he} sleeps on {his} back.',
      '{He} will not run to the front of the cage for you. Sit down, look away, and wait for a nose against your sleeve.',
    ],
    clever: [
      '{name} opens drawers, and closes them again, which worries us more.',
      '{He} knows the sound of every tin and the car of every volunteer.',
      '{He} has trained three of our staff to turn on the tap.',
      '{name} solved the food puzzle in eleven seconds and handed it back.',
    ],
    funny: [
      '{name} falls off things, gets up and looks round to see who did it.',
      '{He} talks: short reports in the morning, long complaints at noon, poetry at night.',
      '{name} sleeps in the fruit bowl and can’t be told from a fruit.',
      'One ear has its own opinion. The rest of {him} agrees with you.',
    ],
    calm: [
      '{name} has a favourite windowsill and no further ambitions.',
      '{He} is the cat you imagine when you imagine a cat and a fire.',
      'Nothing much impresses {name}. A warm plate, perhaps.',
      '{He} keeps office hours: sun from nine to twelve, a nap until four, and then you.',
    ],
  },
  habits: [
    '{He} drinks only from glasses that belong to somebody else.',
    'Cardboard is {his} great love. Keep the box, return the toy.',
    '{He} uses the scratching post and, for special occasions, the good chair.',
    'Birds are watched through the window with a small sound like a creaking door.',
    '{He} comes when called, provided that {he} was coming anyway.',
    '{He} likes to be brushed for exactly ninety seconds.',
    'At dinner {he} sits beside {his} bowl and waits until it is put down straight.',
    '{He} sleeps at the foot of the bed and wakes up on the pillow.',
    'The litter tray is kept in perfect order; {he} is proud of it and calls us to look.',
    'Suitcases make {him} sad. Unpacking makes {him} very helpful.',
    '{He} chases a torch beam until one of you has had enough. It is never {him}.',
  ],
  home: {
    gentle: [
      '{name} would love a family where somebody is always sitting down.',
      'First cat? Then this one. {He} will explain everything.',
    ],
    lively: [
      'A person who thinks like a kitten would be ideal.',
      '{He} needs room to climb, a garden if there is one, and nothing breakable below a metre.',
    ],
    shy: [
      'A quiet home without much coming and going, please. {He} will do the rest in {his} own time.',
      'Someone who can wait will be rewarded more than someone who can’t.',
    ],
    clever: [
      'We are looking for someone with child locks and a good sense of humour.',
      '{He} would do well with a screened balcony, a few shelves and something new to solve each week.',
    ],
    funny: [
      'Bring someone who likes to laugh. {name} has material.',
      'A talkative household would suit {him}; {he} will not be talked over.',
    ],
    calm: [
      'A warm flat and regular meals: {name} has no questions.',
      '{He} would be a peaceful companion for someone who has earned some peace.',
    ],
  },
};

const rabbits: Stories = {
  past: [
    '{name} was an Easter present, and Easter was over on Monday.',
    'A gardener found {name} among the lettuces. {He} was not sorry.',
    '{name} came in a shoebox with six others and was the first to look over the edge.',
    'A school class looked after {name} until the summer holidays came and nobody could take {him}.',
  ],
  nature: alike([
    '{He} throws {himself} on {his} side when {he} is happy, which looks alarming and is the highest praise.',
    '{name} thumps when {he} disagrees, and circles your feet when {he} does not.',
    'Sit on the floor with a book, and after ten minutes there is a rabbit on it.',
    '{He} can jump straight up and change direction in the air. {He} does it mostly for breakfast.',
  ]),
  habits: [
    'Parsley first, then hay, then the skirting board if you are not looking.',
    '{He} folds {his} towel every night and is never satisfied.',
    'Being picked up is not {his} thing. Being stroked between the ears is.',
    '{He} uses a litter tray and expects it to be noticed.',
    'The tunnel is {his}. You may look in.',
  ],
  home: alike([
    '{name} needs a companion of {his} own kind and room to run: a cage is a bed, not a home.',
    'We would love to see {him} in a big indoor pen, or a garden that a fox can’t enter.',
    '{He} would suit people who like to watch more than to hold.',
  ]),
};

const birds: Stories = {
  past: [
    '{name} flew in through a kitchen window and asked for toast.',
    'The owner of {name} emigrated, and the airline had views on birds.',
    '{name} comes from an aviary that was closed down. It is louder here, and {he} likes it.',
    'Someone heard {name} whistling in a hedge in November and brought a ladder.',
  ],
  nature: alike([
    '{name} sings at seven. There is no way to move that.',
    '{He} imitates the telephone so well that we have stopped picking it up.',
    'A mirror, a bell and a friend: of the three, the friend matters most.',
    '{He} sits on your shoulder and reads along.',
  ]),
  habits: [
    'Millet is a bribe that always works.',
    '{He} bathes in a soup plate and invites everyone.',
    'After dark {he} wants a cloth over the cage and one more sentence.',
    'Music helps. Accordions don’t.',
  ],
  home: alike([
    '{name} must not live alone. A pair, or a place in your flock, please.',
    'We are looking for a bright room, a large aviary and an hour of free flight a day.',
    'Neighbours with a sense of melody are an advantage.',
  ]),
};

const smallOnes: Stories = {
  past: [
    '{name} was left in a carrier bag on our doorstep, with a carrot, so somebody cared.',
    '{name} is one of twenty-three. It had begun with two brothers who were not brothers.',
    'A student gave {name} to us at the end of term, and cried on the way to the train.',
  ],
  nature: alike([
    '{name} runs eight kilometres a night and never arrives, which does not trouble {him}.',
    '{His} cheeks hold eleven sunflower seeds. We have counted.',
    'Hold out a flat hand, and wait. The weight, when it comes, is about that of a letter.',
    '{He} builds a new nest every day and likes you to see it before {he} takes it apart.',
  ]),
  habits: [
    '{He} is awake when you come home and asleep when you should be working.',
    'A cardboard tube is a palace. Two are an estate.',
    'Cucumber is good. More cucumber is better.',
    '{He} washes {his} face with both hands, behind the ears too.',
  ],
  home: alike([
    'Deep bedding, a wide wheel and a household that does not start the day at five would be perfect.',
    '{He} would suit someone who is up in the evening.',
    'Older children who can sit still will have a friend.',
  ]),
};

const reptiles: Stories = {
  past: [
    '{name} was found crossing a car park, without hurry, in the right direction.',
    'The first owner of {name} was nine years old and is now forty. {name} has hardly changed.',
    'Customs brought {name} to us. {He} had no papers and no objection.',
  ],
  nature: alike([
    '{name} thinks about strawberries for a long time, and then it happens quickly.',
    '{He} recognises the person with the dandelions and walks towards them at {his} full speed.',
    'There is more going on in that head than the face lets you know.',
  ]),
  habits: [
    'The lamp goes on at eight. {He} is there at one minute to.',
    '{He} digs one hole a week and takes it seriously.',
    'On warm days {he} likes to be outside, with a view of the lettuce.',
  ],
  home: alike([
    'Please come with plans: a heated pen, a UV lamp, and a will. {name} may outlive us all.',
    'We give {him} only to people who know the species, or who will take our evening course. It is a good course.',
  ]),
};

const fish: Stories = {
  past: [
    '{name} won no prize at the fair and was one. We took over.',
    '{name} outgrew a bowl, as fish do, and then a tank, and then the flat.',
  ],
  nature: alike([
    '{name} follows a finger along the glass and loses interest first.',
    'In the morning light {he} is the brightest thing in the building.',
  ]),
  habits: ['{He} sleeps behind the amphora.', '{He} comes to the surface at the sound of the lid, and only then.'],
  home: alike([
    'A planted tank of at least a hundred litres that has been running for a month, please.',
    '{name} lives in a group. Ask us who else would like to come.',
  ]),
};

const horses: Stories = {
  past: [
    '{name} gave riding lessons for fourteen years and is done with being told to trot.',
    '{name} stood alone in a wet field when we met {him}. The feet are good again, and so is the mood.',
    'The family of {name} sold the farm. {He} was the last to leave it.',
  ],
  nature: alike([
    '{He} puts {his} forehead against your chest and stays there until you feel better.',
    '{name} is kind to beginners and strict with tractors.',
    'Foals, goats and nervous people calm down beside {him}.',
  ]),
  habits: [
    '{He} knows where each of us keeps the apples.',
    'Rain is fine. Puddles are an insult.',
    '{He} loads into the trailer at the second invitation, never at the first.',
  ],
  home: alike([
    '{name} needs other horses, dry ground in winter, and someone who comes every day.',
    'Not to be ridden any more, but very good at being a friend.',
  ]),
};

const farmAnimals: Stories = {
  past: [
    '{name} jumped off the lorry at a crossroads and was in the newspaper for a week.',
    '{name} was raised by hand in a kitchen and still tries to come in for breakfast.',
    'A farmer who had grown too fond of {name} rang us. We understand completely.',
  ],
  nature: alike([
    'Scratch {him} under the chin and {he} grows ten centimetres longer.',
    '{name} has an opinion on every gate and has opened most of them.',
    '{He} likes company, brass bands and windfall apples.',
  ]),
  habits: [
    '{He} comes running when called, and the ground can feel it.',
    'The tongue is long, rough and generous. Wear an old jacket.',
    'At milking time {he} walks to the shed out of habit and then looks surprised.',
  ],
  home: alike([
    'We are looking for a meadow with friends on it, and a promise that it is for life.',
    '{He} goes to a place with a herd number, a shelter and a soft spot.',
  ]),
};

const others: Stories = {
  past: [
    '{name} was kept as a surprise and was one, chiefly at night.',
    'Someone had bought {name} from an advertisement and had not read to the end.',
  ],
  nature: alike([
    '{name} rolls up when {he} meets you, thinks it over and unrolls, nose first.',
    '{He} makes a noise like a very small steam engine when {he} is pleased.',
  ]),
  habits: ['Mealworms open every door.', 'The wheel goes round from ten to four. Oil it.'],
  home: alike([
    '{name} needs warmth, a large run and people who enjoy the evening.',
    'Please read up first, and then come and be looked at.',
  ]),
};

/** By the ids of the categories that every store starts with. */
export const storiesOfCategory: Readonly<Record<number, Stories>> = {
  1: dogs,
  2: cats,
  3: rabbits,
  4: birds,
  5: smallOnes,
  6: reptiles,
  7: fish,
  8: horses,
  9: farmAnimals,
  10: others,
};
