import Link from 'next/link';
import { notFound } from 'next/navigation';
import { getStore } from '../../../store';
import { statusWords } from '../../status-words';

export default async function AnimalPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const pet = /^\d{1,18}$/.test(id) ? await getStore().pets.find(BigInt(id)) : undefined;
  if (!pet) notFound();
  return (
    <>
      <h1>{pet.name}</h1>
      <p className="lead">{statusWords[pet.status]}</p>
      <Link href="/">All animals</Link>
    </>
  );
}
