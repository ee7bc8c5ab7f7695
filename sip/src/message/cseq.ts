import type { CSeq } from './message.ts'

export function parseCSeq(_text: string): CSeq | undefined {
  throw new Error('being written')
}

export function serialiseCSeq(_cseq: CSeq): string {
  throw new Error('being written')
}
