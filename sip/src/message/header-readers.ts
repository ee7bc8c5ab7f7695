import { consistsOf, type FaultReporter, parseDigits, WORD } from './characters.ts'
import { parseContentType } from './content-type.ts'
import { MAX_SEQUENCE, parseUnboundedCSeq } from './cseq.ts'
import type { NameAddr, Via } from './message.ts'
import type { MessageDraft } from './message-draft.ts'
import { parseNameAddr, parseNameAddrList } from './name-addr.ts'
import { splitList } from './split-list.ts'
import { parseVia, parseViaList } from './via.ts'

/** Reads one header line into the draft. `value` is unfolded and decoded; `offset` is where the line begins. */
type Reader = (draft: MessageDraft, value: string, offset: number) => void

/** Header fields that may appear only once in a message; a second one causes a refusal (RFC 4475 section 3.3.8). */
const SINGULAR = new Set([
  'From',
  'To',
  'Call-ID',
  'CSeq',
  'Max-Forwards',
  'Content-Length',
  'Content-Type',
  'Refer-To',
  'Replaces',
  'Session-Expires',
  'Event',
  'RAck',
  'RSeq',
])

/** Fields that the grammar allows once, but whose repetition is harmless: the first one counts. */
const USUALLY_ONCE = new Set([
  'Date',
  'Expires',
  'Min-SE',
  'Retry-After',
  'Server',
  'Subject',
  'Timestamp',
  'User-Agent',
])

/** What a repeated field causes: "refuse" or "tolerate"; undefined for fields that may repeat. */
export function ruleForDuplicates(name: string): 'refuse' | 'tolerate' | 'allow' {
  if (SINGULAR.has(name)) return 'refuse'
  return USUALLY_ONCE.has(name) ? 'tolerate' : 'allow'
}

/** Readers of the fields that become typed properties of a message, and of those that are only checked. */
export const HEADER_READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['Via', readVia],
  [
    'From',
    (draft, value, offset) => {
      draft.from = readAddress(draft, 'From', value, offset)
    },
  ],
  [
    'To',
    (draft, value, offset) => {
      draft.to = readAddress(draft, 'To', value, offset)
    },
  ],
  ['Call-ID', readCallId],
  ['CSeq', readCSeq],
  ['Max-Forwards', readMaxForwards],
  [
    'Route',
    (draft, value, offset) => {
      append(draft.route, readAddresses(draft, 'Route', value, offset))
    },
  ],
  [
    'Record-Route',
    (draft, value, offset) => {
      append(draft.recordRoute, readAddresses(draft, 'Record-Route', value, offset))
    },
  ],
  ['Contact', readContact],
  ['Content-Length', readContentLength],
])

/** Fields that stay in the header list; only their value is checked. */
export const HEADER_CHECKS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [
    'Content-Type',
    (draft, value, offset) => {
      if (parseContentType(value) === undefined) {
        draft.refuse(400, 'bad_content_type', 'Content-Type', offset, 'The media type cannot be read.')
      }
    },
  ],
  [
    'Expires',
    (draft, value, offset) => {
      if ((parseDigits(value, 10) ?? Number.POSITIVE_INFINITY) > 2 ** 32 - 1) {
        draft.tolerate('bad_expires', 'Expires', offset, 'Expires is no number of seconds below 2^32.')
      }
    },
  ],
  [
    'Date',
    (draft, value, offset) => {
      if (!SIP_DATE.test(value))
        draft.tolerate('bad_date', 'Date', offset, 'The date is not of the form of RFC 1123 in GMT.')
    },
  ],
])

const SIP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/i

function noticeAt(draft: MessageDraft, where: string, offset: number): FaultReporter {
  return (code, detail) => draft.tolerate(code, where, offset, detail)
}

/** Appends one by one, because `push(...more)` with a hostile number of elements could exhaust the stack. */
function append<T>(list: T[], more: readonly T[]): void {
  for (const element of more) list.push(element)
}

function readVia(draft: MessageDraft, value: string, offset: number): void {
  const values = parseViaList(value, noticeAt(draft, 'Via', offset))
  if (values === undefined) draft.refuse(400, 'bad_via', 'Via', offset, 'A Via value cannot be read.')
  append(draft.via, values ?? salvageVia(value))
}

/** Reads enough of a malformed Via for a response: the sender matches the response by the branch. */
function salvageVia(value: string): readonly Via[] {
  const start = /^SIP[ \t]*\/[ \t]*[0-9.]+[ \t]*\/[ \t]*([A-Za-z0-9-]+)[ \t]+([^ \t;,]+)/i.exec(value)
  const via = start === null ? undefined : parseVia(`SIP/2.0/${start[1]} ${start[2]}`)
  if (via === undefined) return []
  const branch = /;[ \t]*branch[ \t]*=[ \t]*([A-Za-z0-9\-.!%*_+`'~]+)/i.exec(value)?.[1]
  return [branch === undefined ? via : { ...via, params: new Map([['branch', branch]]) }]
}

function readAddress(draft: MessageDraft, where: string, value: string, offset: number): NameAddr | undefined {
  const address = parseNameAddr(value, noticeAt(draft, where, offset))
  if (address === undefined) {
    draft.refuse(400, 'bad_address', where, offset, `The address in ${where} cannot be read.`)
    return salvageTag(value)
  }
  return address
}

/**
 * The response that refuses a message needs a From and a To even if one of them is unreadable: a placeholder
 * with the tag by which the sender matches the response.
 */
function salvageTag(value: string): NameAddr {
  const tag = /;[ \t]*tag[ \t]*=[ \t]*([A-Za-z0-9\-.!%*_+`'~]+)/i.exec(value)?.[1]
  return { ...UNREADABLE, params: tag === undefined ? UNREADABLE.params : new Map([['tag', tag]]) }
}

/** Replaces a From or To that is missing or malformed; used in responses only. */
export const UNREADABLE: NameAddr = {
  displayName: undefined,
  uri: {
    scheme: 'sip',
    user: 'unreadable',
    password: undefined,
    host: 'invalid',
    port: undefined,
    params: new Map(),
    headers: [],
  },
  params: new Map(),
}

function readAddresses(draft: MessageDraft, where: string, value: string, offset: number): readonly NameAddr[] {
  const addresses = parseNameAddrList(value, noticeAt(draft, where, offset))
  if (addresses === undefined) draft.refuse(400, 'bad_address', where, offset, `An address in ${where} cannot be read.`)
  return addresses ?? []
}

function readContact(draft: MessageDraft, value: string, offset: number): void {
  const before = draft.contact
  if (value === '*' && before.length === 0) draft.contact = '*'
  else if (before === '*' || splitList(value).includes('*')) {
    draft.refuse(400, 'bad_contact', 'Contact', offset, '"*" must be the only Contact.')
  } else append(before, readAddresses(draft, 'Contact', value, offset))
}

function readCallId(draft: MessageDraft, value: string, offset: number): void {
  draft.callId = value
  if (!consistsOf(WORD, value)) {
    draft.callId = undefined
    draft.refuse(
      400,
      'bad_call_id',
      'Call-ID',
      offset,
      'The Call-ID is empty or contains characters that RFC 3261 forbids.',
    )
  }
}

function readCSeq(draft: MessageDraft, value: string, offset: number): void {
  draft.cseq = parseUnboundedCSeq(value)
  if (draft.cseq === undefined) draft.refuse(400, 'bad_cseq', 'CSeq', offset, 'CSeq is not a number and a method.')
  else if (draft.cseq.sequence > MAX_SEQUENCE) {
    draft.refuse(400, 'bad_cseq', 'CSeq', offset, 'The sequence number is not below 2^31.')
  }
}

/** RFC 4475 section 3.1.2.4: a value out of range counts as absent. */
function readMaxForwards(draft: MessageDraft, value: string, offset: number): void {
  const hops = parseDigits(value, 10)
  if (hops === undefined) {
    draft.refuse(400, 'bad_max_forwards', 'Max-Forwards', offset, 'Max-Forwards is not a number.')
  } else if (hops > 255) {
    draft.tolerate('bad_max_forwards', 'Max-Forwards', offset, 'Max-Forwards is above 255 and is ignored.')
  } else draft.maxForwards = hops
}

function readContentLength(draft: MessageDraft, value: string, offset: number): void {
  draft.contentLength = parseDigits(value, 15)
  if (draft.contentLength === undefined) {
    draft.refuse(400, 'bad_content_length', 'Content-Length', offset, 'Content-Length is not a number of bytes.')
  }
}
