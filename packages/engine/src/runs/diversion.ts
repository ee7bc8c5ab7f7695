import type { SipRequest } from '@parley/leg'
import { isSipUri, type NameAddr, parseNameAddrList, type Uri } from '@parley/sip'
import { e164Numbers, type NumberRules, numberTextOf } from '../called-number.ts'

/** Most entries of a header that are read. */
const MAX_ENTRIES = 20

/** Reasons of RFC 5806 by the `cause` of a History-Info entry (RFC 4458, RFC 7544 section 5). */
const REASONS: Readonly<Record<string, string>> = {
  '302': 'unconditional',
  '404': 'unknown',
  '408': 'no-answer',
  '480': 'deflection',
  '486': 'user-busy',
  '487': 'deflection',
  '503': 'unavailable',
}
const REASON = /^[A-Za-z0-9-]{1,32}$/

interface Diversions {
  /** The party that sent the call to us, and why. */
  readonly last: { readonly uri: Uri; readonly reason: string }
  /** The party that was called first. */
  readonly original: Uri
}

/**
 * Variables about a diverted call, from Diversion (RFC 5806) or else History-Info (RFC 7044): `diverted_from` (the number that sent the
 * call here), `diversion_reason` (`user-busy`, `no-answer`, `unconditional`, …) and `originally_called` (the number that was called first).
 * Numbers are E.164; a variable whose value is unknown is missing.
 */
export function diversionVariables(
  invite: SipRequest,
  country: string | null,
  rules: NumberRules = {},
): Readonly<Record<string, string>> {
  const found = fromDiversion(invite) ?? fromHistory(invite)
  if (found === null) return {}
  const number = (uri: Uri) => e164Numbers(numberTextOf(uri) ?? '', country, rules)[0]
  const last = number(found.last.uri)
  const original = number(found.original)
  return {
    ...(last !== undefined && { diverted_from: last }),
    diversion_reason: found.last.reason,
    ...(original !== undefined && { originally_called: original }),
  }
}

/** RFC 5806 section 4: the most recent diversion stands first. */
function fromDiversion(invite: SipRequest): Diversions | null {
  const entries = entriesOf(invite, 'Diversion')
  const [last] = entries
  if (last === undefined) return null
  const reason = last.params.get('reason') ?? ''
  return {
    last: { uri: last.uri, reason: REASON.test(reason) ? reason.toLowerCase() : 'unknown' },
    original: entries.at(-1)!.uri,
  }
}

/** RFC 7044: an entry with a `cause` in its URI is the target of a diversion by the entry from which it was derived. */
function fromHistory(invite: SipRequest): Diversions | null {
  const entries = entriesOf(invite, 'History-Info')
  const byIndex = new Map(entries.map(entry => [entry.params.get('index'), entry]))
  const diversions = entries.flatMap(entry => {
    const cause = isSipUri(entry.uri) ? entry.uri.params.get('cause') : undefined
    const from = byIndex.get(sourceIndexOf(entry))
    return typeof cause !== 'string' || from === undefined ? [] : [{ from: from.uri, cause }]
  })
  const first = diversions[0]
  const last = diversions.at(-1)
  if (first === undefined || last === undefined) return null
  return { last: { uri: last.from, reason: REASONS[last.cause] ?? 'unknown' }, original: first.from }
}

/** Index of the entry from which this one was derived: named by `mp`, `rc` or `np` (section 10.3), else one level up. */
function sourceIndexOf({ params }: NameAddr): string | null {
  const named = params.get('mp') ?? params.get('rc') ?? params.get('np')
  if (typeof named === 'string') return named
  const index = params.get('index') ?? ''
  const dot = index.lastIndexOf('.')
  return dot === -1 ? null : index.slice(0, dot)
}

function entriesOf({ headers }: SipRequest, name: string): readonly NameAddr[] {
  if (headers.get(name) === undefined) return []
  return headers
    .all(name)
    .flatMap(value => parseNameAddrList(value) ?? [])
    .slice(0, MAX_ENTRIES)
}
