'use client';

/** The error itself is in the log of the server. */
export default function ErrorPage() {
  return (
    <>
      <h1>One moment, please</h1>
      <p className="lead">The list of animals is unavailable right now. Please load this page again in a minute.</p>
    </>
  );
}
