import type { CSeq, NameAddr, Via } from './message.ts'
import type { Fault } from './parse-result.ts'

/** What has been read of a message so far. Filled by the header readers, judged at the end. */
export class MessageDraft {
  via: readonly Via[] = []
  from: NameAddr | undefined
  to: NameAddr | undefined
  callId: string | undefined
  cseq: CSeq | undefined
  maxForwards: number | undefined
  route: readonly NameAddr[] = []
  recordRoute: readonly NameAddr[] = []
  contact: readonly NameAddr[] | '*' = []
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
}
