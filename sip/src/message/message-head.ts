import { canonicalName } from './canonical-name.ts'
import { consistsOf, TOKEN } from './characters.ts'
import { HEADER_CHECKS, HEADER_READERS, ruleForDuplicates } from './header-readers.ts'
import { type HeaderSection, type RawField, readHeaderSection, type SectionProblem } from './header-section.ts'
import type { Uri } from './message.ts'
import { MessageDraft } from './message-draft.ts'
import { REGISTERED_METHODS } from './methods.ts'
import type { MessageLimits } from './parse-result.ts'
import { parseStartLine, type StartLine } from './start-line.ts'
import { parseUri } from './uri.ts'
import { utf8FromBytes } from './utf8-text.ts'

/** Start line and headers of a message, parsed and checked, without the body. */
export interface MessageHead {
  /** Undefined: the start line is not SIP, so a stream cannot be resynchronised behind it. */
  readonly startLine: StartLine | undefined
  /** Request-URI; undefined in a response, or when it cannot be read. */
  readonly uri: Uri | undefined
  readonly reason: string
  readonly draft: MessageDraft
  /** Where the body begins. */
  readonly end: number
  /** Where the start line begins. */
  readonly startOffset: number
}

/** `text` is the message with one character per byte, at least up to the end of its headers. */
export function readMessageHead(text: string, limits: MessageLimits): MessageHead {
  const section = readHeaderSection(text, limits)
  const draft = new MessageDraft()
  const { startOffset } = section
  const startLine = parseStartLine(section.startLine)
  let uri: Uri | undefined
  if (startLine === undefined) {
    draft.refuse(
      0,
      'not_sip',
      'start_line',
      startOffset,
      'The first line is neither a request nor a status line of SIP.',
    )
  } else uri = readStartLine(draft, startLine, startOffset)
  if (section.problem !== undefined) refuseProblem(draft, section.problem)
  if (startLine !== undefined) {
    readFields(draft, section, startLine.kind)
    if (startLine.kind === 'request') compareMethods(draft, startLine.method)
    noteOddities(draft, section, startLine)
  }
  const reason = startLine?.kind === 'response' ? decode(draft, startLine.reason, 'start_line', startOffset) : ''
  return { startLine, uri, reason, draft, end: section.end, startOffset }
}

function readStartLine(draft: MessageDraft, line: StartLine, offset: number): Uri | undefined {
  const refuse = (status: number, code: string, detail: string) => {
    draft.refuse(status, code, 'start_line', offset, detail)
  }
  if (line.version !== '2.0') refuse(505, 'bad_version', `SIP version ${line.version} is not supported; use 2.0.`)
  if (line.kind === 'response') {
    if (line.status === undefined) refuse(0, 'bad_status', 'The status code is not within 100..699.')
    if (LINE_BREAKING.test(line.reason))
      refuse(0, 'control_character', 'The reason phrase contains a NUL or carriage return.')
    return undefined
  }
  const uri = parseUri(decode(draft, line.uri, 'start_line', offset))
  if (uri === undefined) refuse(400, 'bad_uri', 'The Request-URI cannot be read.')
  else if ('headers' in uri && uri.headers.length > 0) {
    refuse(400, 'bad_uri', 'A Request-URI must not carry header fields.')
  }
  return uri
}

const LINE_BREAKING = /[\0\r]/

const PROBLEMS: Readonly<Record<SectionProblem['code'], readonly [status: number, where: string, detail: string]>> = {
  start_line_too_long: [414, 'start_line', 'The start line is longer than is accepted.'],
  line_too_long: [400, 'message', 'A header line is longer than is accepted.'],
  too_many_headers: [400, 'message', 'There are more header fields than are accepted.'],
  bad_header_line: [400, 'message', 'A header line has no name.'],
  bare_carriage_return: [400, 'message', 'A header line holds a carriage return that ends no line.'],
}

function refuseProblem(draft: MessageDraft, problem: SectionProblem): void {
  const [status, where, detail] = PROBLEMS[problem.code]
  draft.refuse(status, problem.code, where, problem.offset, detail)
}

function readFields(draft: MessageDraft, section: HeaderSection, kind: StartLine['kind']): void {
  for (const field of section.fields) {
    if (!consistsOf(TOKEN, field.name)) {
      draft.refuse(400, 'bad_header_line', 'message', field.offset, 'The name of a header field is not a token.')
      continue
    }
    const name = canonicalName(field.name)
    const rule = ruleForDuplicates(name)
    if (rule !== 'allow') {
      if (draft.offsets.has(name)) {
        refuseDuplicate(draft, name, rule, field.offset)
        continue
      }
      draft.offsets.set(name, field.offset)
    }
    readField(draft, name, field, kind)
  }
}

function refuseDuplicate(draft: MessageDraft, name: string, rule: 'refuse' | 'tolerate', offset: number): void {
  const detail = `${name} is given more than once.`
  if (rule === 'refuse') {
    draft.refuse(400, 'duplicate_header', name, offset, detail)
    // With two lengths the end of the message is unknown.
    if (name === 'Content-Length') draft.contentLength = undefined
  } else draft.tolerate('duplicate_header', name, offset, `${detail} The first one counts.`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the grammar is about control characters
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/

function readField(draft: MessageDraft, name: string, field: RawField, kind: StartLine['kind']): void {
  const value = decode(draft, field.value, name, field.offset)
  // Max-Forwards has no meaning in a response; only requests have it as a property.
  const reader = kind === 'response' && name === 'Max-Forwards' ? undefined : HEADER_READERS.get(name)
  if (reader !== undefined) {
    reader(draft, value, field.offset)
    return
  }
  if (CONTROL.test(value)) {
    if (value.includes('\0')) {
      draft.refuse(400, 'control_character', name, field.offset, 'The value contains a NUL.')
      return
    }
    draft.tolerate('control_character', name, field.offset, 'The value holds a control character.')
  }
  HEADER_CHECKS.get(name)?.(draft, value, field.offset)
  draft.headers.push([name, value])
}

function decode(draft: MessageDraft, text: string, where: string, offset: number): string {
  const decoded = utf8FromBytes(text)
  if (decoded === undefined)
    draft.tolerate('bad_utf8', where, offset, 'The text is no UTF-8; it is read as ISO 8859-1.')
  return decoded ?? text
}

/** RFC 4475 section 3.1.2.18: an unknown method is refused as such before its headers are judged, because it may have rules of its own. */
function compareMethods(draft: MessageDraft, method: string): void {
  if (draft.cseq === undefined || draft.cseq.method === method) return
  const known = REGISTERED_METHODS.has(method)
  const detail = `CSeq says ${draft.cseq.method}, the start line says ${method}.`
  draft.refuse(known ? 400 : 501, 'method_mismatch', 'CSeq', draft.offsets.get('CSeq') ?? 0, detail)
}

function noteOddities(draft: MessageDraft, section: HeaderSection, line: StartLine): void {
  const { startOffset } = section
  if (startOffset > 0) {
    draft.tolerate('leading_line_breaks', 'message', 0, 'Line breaks stand in front of the start line.')
  }
  if (line.extraSpaces) {
    draft.tolerate('extra_spaces', 'start_line', startOffset, 'The start line holds more spaces than it should.')
  }
  if (section.bareLineFeeds) {
    draft.tolerate('bare_line_feed', 'message', startOffset, 'A line ends in LF without CR.')
  }
  if (!section.terminated) {
    draft.tolerate('unterminated_headers', 'message', section.end, 'No empty line ends the headers.')
  }
}
