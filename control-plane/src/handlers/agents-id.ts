const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const LENGTH = 20
/** Larger bytes are skipped: with them the first characters of the alphabet would be likelier than the others. */
const UNBIASED = 256 - (256 % ALPHABET.length)

/** A new id: `agent_` and 20 random characters of `[0-9a-z]` (103 bits). */
export function newAgentId(randomBytes: (count: number) => Buffer): string {
  let id = ''
  while (id.length < LENGTH)
    for (const byte of randomBytes(LENGTH))
      if (byte < UNBIASED && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length]
  return `agent_${id}`
}
