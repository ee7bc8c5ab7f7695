/**
 * Words as bits: five bits for a letter, comma or full stop, with escape codes for a capital, for one of 64 digits and
 * signs of European languages, and for a byte of UTF-8. Bits after the end code are zero. Long words are split into
 * pieces: the code of a capital followed by the end code marks the split.
 */
export interface WordPiece {
  readonly text: string
  /** The piece continues the word of the previous piece. */
  readonly continues: boolean
  /** The next piece continues the word. */
  readonly goesOn: boolean
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz,.'
const END = 0
const CAPITAL = 29
const SIGN = 30
const BYTE = 31
const CODE_BITS = 5
const SIGN_BITS = 6
const BYTE_BITS = 8
const CUT = [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
const SIGNS = '0123456789\'-?!:;/@#$%&()+*=_"€£¿¡áéíóúüñàèìòùâêîôûäößçãõœæåø’“”…'

const signOf = new Map([...SIGNS].map((sign, i) => [sign, i] as const))
const signs = [...SIGNS]

/** The bits (0 or 1) of `word`, in pieces of at most `maxBits` (72 or more: a character is never split); without an end code. */
export function wordBits(word: string, maxBits: number): number[][] {
  const pieces: number[][] = []
  let piece: number[] = []
  for (const character of word) {
    const bits = characterBits(character)
    if (piece.length + bits.length > maxBits - CUT.length) {
      pieces.push([...piece, ...CUT])
      piece = [...CUT]
    }
    piece.push(...bits)
  }
  return [...pieces, piece]
}

function characterBits(character: string): number[] {
  const bits: number[] = []
  const letter = LETTERS.indexOf(character)
  if (letter >= 0) put(bits, letter + 1, CODE_BITS)
  else if (/^[A-Z]$/.test(character)) {
    put(bits, CAPITAL, CODE_BITS)
    put(bits, LETTERS.indexOf(character.toLowerCase()) + 1, CODE_BITS)
  } else if (signOf.has(character)) {
    put(bits, SIGN, CODE_BITS)
    put(bits, signOf.get(character)!, SIGN_BITS)
  } else {
    for (const byte of new TextEncoder().encode(character)) {
      put(bits, BYTE, CODE_BITS)
      put(bits, byte, BYTE_BITS)
    }
  }
  return bits
}

/** Decodes `bits[0…count)`; null when they are invalid: bits after the end code that are not zero, or invalid UTF-8. */
export function pieceOfBits(bits: Uint8Array, count: number): WordPiece | null {
  let continues = false
  let goesOn = false
  const bytes: number[] = []
  let at = 0
  const take = (width: number): number => {
    if (at + width > count) return -1
    let value = 0
    for (let i = 0; i < width; i++) value = 2 * value + bits[at++]!
    return value
  }
  const append = (text: string) => bytes.push(...new TextEncoder().encode(text))
  while (count - at >= CODE_BITS) {
    const code = take(CODE_BITS)
    if (code === END) break
    if (code === BYTE || code === SIGN) {
      const value = take(code === BYTE ? BYTE_BITS : SIGN_BITS)
      if (value < 0 || (code === SIGN && value >= signs.length)) return null
      if (code === BYTE) bytes.push(value)
      else append(signs[value]!)
    } else if (code === CAPITAL) {
      const letter = take(CODE_BITS)
      if (letter === END) {
        if (bytes.length > 0) {
          goesOn = true
          break
        }
        continues = true
        continue
      }
      if (letter < 1 || letter > 26) return null
      append(LETTERS[letter - 1]!.toUpperCase())
    } else append(LETTERS[code - 1]!)
  }
  for (; at < count; at++) if (bits[at] !== 0) return null
  if (bytes.length === 0) return null
  const text = decodeUtf8(Uint8Array.from(bytes))
  return text === null ? null : { text, continues, goesOn }
}

function put(bits: number[], value: number, width: number): void {
  for (let shift = width - 1; shift >= 0; shift--) bits.push((value >> shift) & 1)
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
