import Link from 'next/link';
import { getStore } from '../store';
import { statusWords } from './status-words';

interface Props {
  /** Reading them makes Next.js render the page for each request, so the list is never of the time of the build. */
  searchParams: Promise<{ cursor?: string }>;
}

export default async function AnimalsPage({ searchParams }: Props) {
  const { cursor: start } = await searchParams;
  const { items, cursor } = await getStore()
    .pets.list({ limit: 24, ...(start && { cursor: start }) })
    .page();
  return (
    <>
      <h1>Waiting for a home</h1>
      <p className="lead">Every animal of the shelter, as of this moment.</p>
      <ul className="animals">
        {items.map(({ id, name, status }) => (
          <li key={String(id)} className="card">
            <h2>{name}</h2>
            <span className={`status ${status}`}>{statusWords[status]}</span>
            <Link href={`/pets/${id}`}>Meet {name}</Link>
          </li>
        ))}
      </ul>
      {cursor && <Link href={`/?cursor=${encodeURIComponent(cursor)}`}>More animals</Link>}
    </>
  );
}
