/** By it adopters are told apart: in lower case, without a tag such as `+dogs`. Mail goes to the address as it was given. */
export function normalizeEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const tag = email.indexOf('+');
  const name = email.slice(0, tag > 0 && tag < at ? tag : at);
  return `${name}${email.slice(at)}`.toLowerCase();
}
