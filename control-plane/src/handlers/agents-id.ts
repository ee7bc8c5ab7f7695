const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const LENGTH = 20
/** Bytes from here on would make the first characters of the alphabet likelier than the others. */
const UNBIASED = 256 - (256 % ALPHABET.length)

/** `agent_` and 20 of `[0-9a-z]`: 103 bits. */
export function newAgentId(randomBytes: (count: number) => Buffer): string {
  let id = ''
  while (id.length < LENGTH)
    for (const byte of randomBytes(LENGTH))
      if (byte < UNBIASED && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length]
  return `agent_${id}`
}
