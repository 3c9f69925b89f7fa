/** Of a hold, whether it is not over yet. */
export const isInForce = (until: string) => `(${until} is null or ${until} > now())`;
