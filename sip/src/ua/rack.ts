import type { HeaderList } from '../message/header-list.ts'
import { tokenList } from '../message/token-list.ts'

/** RFC 3262 section 7.1: below 2^32. */
const MAX_RSEQ = 2 ** 32 - 1

/** The RSeq of a provisional response that is sent reliably (RFC 3262 section 3); undefined for any other. */
export function reliableSequence(headers: HeaderList): number | undefined {
  if (!requires100rel(headers)) return undefined
  return sequenceNumber(headers.get('RSeq') ?? '')
}

export function requires100rel(headers: HeaderList): boolean {
  return tokenList(headers, 'Require').some(tag => tag.toLowerCase() === '100rel')
}

/** RAck (RFC 3262 section 7.2): RSeq of the response, and CSeq of its INVITE. */
interface RAck {
  readonly rseq: number
  readonly sequence: number
  readonly method: string
}

export function parseRAck(value: string): RAck | undefined {
  const [rseq, sequence, method, ...more] = value.trim().split(/[ \t]+/)
  const numbers = [sequenceNumber(rseq ?? ''), sequenceNumber(sequence ?? '')]
  if (numbers[0] === undefined || numbers[1] === undefined || method === undefined || more.length > 0) return undefined
  return { rseq: numbers[0], sequence: numbers[1], method }
}

function sequenceNumber(text: string): number | undefined {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return value !== undefined && value <= MAX_RSEQ ? value : undefined
}
