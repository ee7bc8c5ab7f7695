import type { CSeq, NameAddr, Via } from './message.ts'
import type { Fault } from './parse-result.ts'

/** The fields of a message read so far. The header readers fill it; completeMessage checks it. */
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
  /** Offsets of the fields that may appear only once. */
  readonly offsets = new Map<string, number>()
  readonly faults: Fault[] = []
  /** The first fault that cannot be tolerated, with the status code of the response to it. */
  refusal: { readonly fault: Fault; readonly status: number } | undefined

  tolerate(code: string, where: string, offset: number, detail: string): void {
    this.faults.push({ code, where, offset, detail })
  }

  refuse(status: number, code: string, where: string, offset: number, detail: string): void {
    this.refusal ??= { status, fault: { code, where, offset, detail } }
  }

  /** Refuses a message that exceeds a size limit. It replaces any earlier refusal, because the message was read only in part. */
  refuseTooLarge(headerBytes: number): void {
    const detail = `The headers are larger than the ${headerBytes} bytes that are accepted.`
    this.refusal = { status: 513, fault: { code: 'headers_too_large', where: 'message', offset: headerBytes, detail } }
  }
}
