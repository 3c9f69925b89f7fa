import Link from 'next/link';
import { getStore } from '../store';
import { factsOf, statusWords } from './animal';
import { Photo } from './photo';

interface Props {
  /** Reading them makes Next.js render the page for each request, so the list is never of the time of the build. */
  searchParams: Promise<{ cursor?: string }>;
}

export default async function AnimalsPage({ searchParams }: Props) {
  const { cursor: start } = await searchParams;
  const { items, cursor } = await getStore()
    .listings.search({ limit: 24, ...(start && { cursor: start }) })
    .page();
  return (
    <>
      <h1>Waiting for a home</h1>
      <p className="lead">Every animal of the shelter, as of this moment.</p>
      <ul className="animals">
        {items.map((animal) => (
          <li key={String(animal.pet.id)} className="card">
            <Photo animal={animal} sizes="(min-width: 40rem) 18rem, 100vw" />
            <h2>
              <Link href={`/pets/${animal.pet.id}`}>{animal.pet.name}</Link>
            </h2>
            <p>{factsOf(animal)}</p>
            <p>{animal.shelter.name}</p>
            <span className={`status ${animal.pet.status}`}>{statusWords[animal.pet.status]}</span>
          </li>
        ))}
      </ul>
      {cursor && <Link href={`/?cursor=${encodeURIComponent(cursor)}`}>More animals</Link>}
    </>
  );
}
