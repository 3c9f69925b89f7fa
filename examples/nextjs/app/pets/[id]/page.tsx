import Link from 'next/link';
import { notFound } from 'next/navigation';
import { getStore } from '../../../store';
import { factsOf, statusWords } from '../../animal';
import { Photo } from '../../photo';

export default async function AnimalPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  if (!/^\d{1,18}$/.test(id)) notFound();
  const { items } = await getStore()
    .listings.search({ id: [BigInt(id)] })
    .page();
  const [animal] = items;
  if (!animal) notFound();
  const { pet, profile, shelter } = animal;
  return (
    <>
      <h1>{pet.name}</h1>
      <p className="lead">{factsOf(animal)}</p>
      <Photo animal={animal} sizes="(min-width: 48rem) 44rem, 100vw" />
      <p>
        <span className={`status ${pet.status}`}>{statusWords[pet.status]}</span> {shelter.name}
      </p>
      <p className="story">{profile.description}</p>
      <Link href="/">All animals</Link>
    </>
  );
}
