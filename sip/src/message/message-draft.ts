import type { CSeq, NameAddr, Via } from './message.ts'
import type { Fault } from './parse-result.ts'

/** What has been read of a message so far. Filled by the header readers, judged at the end. */
export class MessageDraft {
  readonly via: Via[] = []
  from: NameAddr | undefined
  to: NameAddr | undefined
  callId: string | undefined
  cseq: CSeq | undefined
  maxForwards: number | undefined
  readonly route: NameAddr[] = []
  readonly recordRoute: NameAddr[] = []
  contact: NameAddr[] | '*' = []
  readonly headers: (readonly [name: string, value: string])[] = []
  /** Undefined: no usable Content-Length. */
  contentLength: number | undefined
  /** Where the fields that may come only once begin. */
  readonly offsets = new Map<string, number>()
  readonly faults: Fault[] = []
  /** The first fault that cannot be tolerated, and the status that answers it. */
  refusal: { readonly fault: Fault; readonly status: number } | undefined

  tolerate(code: string, where: string, offset: number, detail: string): void {
    this.faults.push({ code, where, offset, detail })
  }

  refuse(status: number, code: string, where: string, offset: number, detail: string): void {
    this.refusal ??= { status, fault: { code, where, offset, detail } }
  }

  /** Refuses for its size what was only read in part: whatever else was found says less. */
  refuseTooLarge(headerBytes: number): void {
    const detail = `The headers are larger than the ${headerBytes} bytes that are accepted.`
    this.refusal = { status: 513, fault: { code: 'headers_too_large', where: 'message', offset: headerBytes, detail } }
  }
}
