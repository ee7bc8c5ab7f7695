/** One message of a ladder, read as far as the ladder shows it. */
interface SipLine {
  /** The method of a request, or status and reason of a response. */
  readonly title: string
  readonly isRequest: boolean
  /** Of a response: 1 to 6; of a request 0. */
  readonly statusClass: number
  /** The method that a response belongs to, and the number of the transaction. */
  readonly cseq: string
  /** Media type of the body; null: there is none. */
  readonly body: string | null
}

/** Reads the start line, CSeq and Content-Type of a SIP message (RFC 3261, 7). */
export function sipLine(message: string): SipLine {
  const [head = '', body = ''] = message.split(/\r?\n\r?\n/, 2)
  const [start = '', ...headers] = head.split(/\r?\n/)
  const response = /^SIP\/2\.0 (\d{3}) ?(.*)$/.exec(start)
  const header = (names: RegExp) =>
    headers.map(line => names.exec(line)?.[1]?.trim()).find(value => value !== undefined)
  return {
    title: response === null ? (start.split(' ', 1)[0] ?? '') : `${response[1]} ${response[2]}`.trim(),
    isRequest: response === null,
    statusClass: response === null ? 0 : Number(response[1]![0]),
    cseq: header(/^cseq\s*:(.*)$/i) ?? '',
    body: body.trim() === '' ? null : (header(/^(?:content-type|c)\s*:(.*)$/i) ?? null),
  }
}
