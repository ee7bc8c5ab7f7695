import type { LegEnd } from '@parley/leg'
import { parseChallenges, type SipRequest, type SipResponse } from '@parley/sip'
import type { DialableTrunk } from '@parley/store'
import { type Finding, ok, problem } from './finding.ts'
import type { TestCall } from './test-call.ts'

/** Algorithms that our digest has (RFC 8760). */
const ALGORITHMS = new Set(['MD5', 'SHA-256'])
/** The callee, not the trunk, ended the call. */
const OF_THE_CALLEE = new Set([408, 480, 486, 487, 600, 603, 607, 608])
/** The carrier does not know the number. */
const NUMBER_UNKNOWN = new Set([404, 410, 484, 604])

/** Refusals of the session description. */
export const MEDIA_REFUSALS: ReadonlySet<number> = new Set([415, 488, 606])

/** The messages of a test call. */
export interface CallMessages {
  readonly invites: readonly SipRequest[]
  readonly responses: readonly SipResponse[]
}

/** What a test call says about the trunk, other than a refusal of its session description ({@link explainMedia}). */
export function explainCall(trunk: DialableTrunk, { end, rang }: TestCall, messages: CallMessages): Finding {
  const { sipStatus: status } = end
  if (end.answered) return ok('call', 'The INVITE was answered 200 OK.')
  if (end.cause === 'transport' || end.cause === 'timeout') if (messages.responses.length === 0) return noResponse(end)
  const answer = `The INVITE was answered ${status} ${end.reason}.`
  if (status === 401 || status === 407) return explainChallenge(trunk, answer, messages)
  if (status === 403) return explainForbidden(trunk, answer, messages)
  if (status !== null && NUMBER_UNKNOWN.has(status))
    return problem(
      'call',
      'number_unknown',
      `${answer} The carrier does not know the number as it was written: ${userOf(messages)}.`,
      'Set the notation that the carrier expects: --number-format-out, --prefix-out, or its --profile. Check the number of --to.',
    )
  if (status !== null && OF_THE_CALLEE.has(status)) return ok('call', calleeText(answer, rang, status))
  if (status !== null && status >= 300 && status < 400)
    return problem(
      'call',
      'moved',
      `${answer} The carrier names another address, which is never called.`,
      'Ask the carrier which host takes calls, and set it as termination_uri.',
    )
  if (status !== null && status >= 500)
    return problem(
      'call',
      'server_unavailable',
      `${answer} ${hintOf(messages)}`.trim(),
      'Try again later. If it lasts, ask the carrier about the trunk and its limits; --cps limits calls a second.',
    )
  return problem(
    'call',
    'call_failed',
    `${answer} ${end.detail} ${hintOf(messages)}`.trim(),
    'Ask the carrier why it refuses the call; the messages of a run are shown by "parley runs ladder RUN".',
  )
}

function noResponse({ detail }: LegEnd): Finding {
  return problem(
    'call',
    'no_response',
    `The INVITE got no response (${detail}).`,
    'Ask the carrier whether it lists your public address. A datagram above 1,300 bytes may be lost on the way: try --transport tcp or tls.',
  )
}

function calleeText(answer: string, rang: boolean, status: number): string {
  if (status === 487 || status === 408) return `The call rang and was not answered.`
  return rang ? `The call rang, then ended: ${answer}` : `${answer} The trunk works; the callee did not take the call.`
}

function explainChallenge({ auth, details }: DialableTrunk, answer: string, messages: CallMessages): Finding {
  const challenges = challengesOf(messages)
  const realms = [...new Set(challenges.map(({ params }) => params.get('realm') ?? ''))].map(realm => `"${realm}"`)
  const asked = `${answer} The carrier wants digest credentials for ${realms.join(', ') || 'a realm that it does not name'}.`
  if (auth === null)
    return problem(
      'call',
      'digest_missing',
      `${asked} The trunk has none.`,
      'Store the password as a secret of kind sip_auth and set auth_username and auth_secret of the trunk (PATCH /api/v1/telephony/trunks/…).',
    )
  if (hadCredentials(messages))
    return problem(
      'call',
      'digest_refused',
      `${asked} It refused those of ${auth.username}.`,
      'Check auth_username and the password: store the right one as a new version of the secret, and pin that version in auth_secret.',
    )
  const known = challenges.filter(({ params }) => ALGORITHMS.has((params.get('algorithm') ?? 'MD5').toUpperCase()))
  if (challenges.length > 0 && known.length === 0)
    return problem(
      'call',
      'digest_algorithm',
      `${asked} Its algorithm ${challenges.map(({ params }) => params.get('algorithm')).join(', ')} is not supported.`,
      'Ask the carrier for MD5 or SHA-256.',
    )
  return problem(
    'call',
    'digest_realm',
    `${asked} They were not sent: --realms has ${details.realms?.join(', ') ?? 'no realm'}.`,
    `Add the realm if it is the carrier's: --realms ${realms.join(',').replaceAll('"', '') || 'REALM'}.`,
  )
}

function explainForbidden({ auth }: DialableTrunk, answer: string, messages: CallMessages): Finding {
  if (auth !== null && hadCredentials(messages))
    return problem(
      'call',
      'digest_refused',
      `${answer} That was the answer to the credentials of ${auth.username}. ${hintOf(messages)}`.trim(),
      'Check auth_username and the password. If they are right, the account may not call this number or show this caller: ask the carrier.',
    )
  return problem(
    'call',
    'forbidden',
    `${answer} ${hintOf(messages)}`.trim(),
    'Ask the carrier whether it lists your public address and lets the trunk show this caller (--from, --identity, --asserted-identity).',
  )
}

function challengesOf({ responses }: CallMessages) {
  return responses.flatMap(({ headers }) =>
    ['WWW-Authenticate', 'Proxy-Authenticate'].flatMap(name => headers.all(name).flatMap(parseChallenges)),
  )
}

function hadCredentials({ invites }: CallMessages): boolean {
  return invites.some(({ headers }) =>
    ['Authorization', 'Proxy-Authorization'].some(name => headers.get(name) !== undefined),
  )
}

function userOf({ invites }: CallMessages): string {
  const uri = invites.at(-1)?.uri
  return uri !== undefined && 'user' in uri ? (uri.user ?? '') : ''
}

/** What the carrier says in Warning and Reason. */
export function hintOf({ responses }: CallMessages): string {
  const last = responses.at(-1)
  const words = ['Warning', 'Reason'].flatMap(name => last?.headers.get(name) ?? [])
  return words.length === 0 ? '' : `It says: ${words.join('; ').slice(0, 300)}.`
}
