import type { LegEnd } from '@parley/leg'
import { describe, expect, it } from 'vitest'
import { type LocalEnding, runResult } from './outcome.ts'

const base: LegEnd = {
  direction: 'outbound',
  answered: false,
  by: 'remote',
  cause: 'rejected',
  sipStatus: 486,
  reason: '',
  inviteSent: true,
  confirmed: true,
  detail: '',
  retryAfterS: undefined,
  media: null,
}

type Row = [what: string, end: Partial<LegEnd>, local: LocalEnding | null, result: string, hadCredentials?: boolean]

/** `state outcome.kind/ended_by detail` */
const table: Row[] = [
  [
    'the agent hangs up after its last words',
    { answered: true, by: 'local', cause: 'bye', sipStatus: 200 },
    'completed',
    'completed completed/agent -',
  ],
  [
    'the callee hangs up',
    { answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
    null,
    'completed caller_hung_up/callee callee_hung_up',
  ],
  [
    'the caller hangs up',
    { direction: 'inbound', answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
    null,
    'completed caller_hung_up/caller -',
  ],
  [
    'the far end does not refresh the session',
    { answered: true, by: 'remote', cause: 'timeout', sipStatus: 200 },
    null,
    'failed error/system signalling_lost',
  ],
  [
    'the far end no longer has the dialog (481)',
    { answered: true, by: 'remote', cause: 'protocol', sipStatus: 200 },
    null,
    'failed error/system signalling_lost',
  ],
  [
    'the visitor of a web call never joins its room',
    { direction: 'inbound', answered: false, by: 'remote', cause: 'not-joined', sipStatus: null },
    null,
    'completed no_answer/system -',
  ],
  [
    'the far end never acknowledges our answer',
    { direction: 'inbound', answered: false, by: 'remote', cause: 'timeout', sipStatus: 200 },
    null,
    'failed error/system signalling_lost',
  ],
  [
    'both sides hang up, and the BYE of the far end arrives first',
    { answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
    'completed',
    'completed caller_hung_up/callee callee_hung_up',
  ],
  [
    'the caller was transferred, and the BYE of the far end arrives first',
    { answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
    'transferred',
    'completed transferred/agent -',
  ],
  [
    'the call reaches its maximum duration',
    { answered: true, by: 'local', cause: 'bye', sipStatus: 200 },
    'max_duration',
    'completed max_duration/system -',
  ],
  [
    'an operator cancels a live call',
    { answered: true, by: 'local', cause: 'bye', sipStatus: 200 },
    'cancelled',
    'cancelled cancelled/operator -',
  ],
  [
    'an operator cancels a ringing call',
    { by: 'local', cause: 'cancelled', sipStatus: 487 },
    'cancelled',
    'cancelled cancelled/operator -',
  ],
  [
    'the call is not answered within the ring timeout',
    { by: 'local', cause: 'cancelled', sipStatus: 487 },
    null,
    'completed no_answer/system -',
  ],
  [
    'no final response arrives (Timer B)',
    { by: 'local', cause: 'timeout', sipStatus: 408 },
    null,
    'completed no_answer/system -',
  ],
  ['the INVITE is answered 480', { sipStatus: 480 }, null, 'completed no_answer/system -'],
  ['the INVITE is answered 486', { sipStatus: 486 }, null, 'completed busy/callee -'],
  ['the INVITE is answered 600', { sipStatus: 600 }, null, 'completed busy/callee -'],
  ['the INVITE is answered 603 Decline', { sipStatus: 603 }, null, 'completed busy/callee declined'],
  ['the INVITE is answered 607 Unwanted', { sipStatus: 607 }, null, 'completed busy/callee declined'],
  ['the INVITE is answered 608 Rejected', { sipStatus: 608 }, null, 'completed busy/callee declined'],
  ['the INVITE is answered 404', { sipStatus: 404 }, null, 'failed error/system number_not_found'],
  ['the INVITE is answered 484', { sipStatus: 484 }, null, 'failed error/system number_not_found'],
  [
    'the INVITE with our credentials is answered 401',
    { sipStatus: 401 },
    null,
    'failed error/system trunk_auth_failed',
  ],
  [
    'the INVITE with our credentials is answered 407',
    { sipStatus: 407 },
    null,
    'failed error/system trunk_auth_failed',
  ],
  ['an INVITE without credentials is answered 403', { sipStatus: 403 }, null, 'failed error/system forbidden'],
  [
    'the INVITE with our credentials is answered 403',
    { sipStatus: 403 },
    null,
    'failed error/system trunk_auth_failed',
    true,
  ],
  ['the INVITE is answered 488', { sipStatus: 488 }, null, 'failed error/system media_refused'],
  ['the INVITE is answered 302, which is not followed', { sipStatus: 302 }, null, 'failed error/system moved'],
  ['the INVITE is answered 500', { sipStatus: 500 }, null, 'failed error/system sip_error'],
  [
    'the trunk cannot be reached',
    { by: 'local', cause: 'transport', sipStatus: 503 },
    null,
    'failed error/system trunk_unreachable',
  ],
  [
    'the SDP answer is not acceptable',
    { by: 'local', cause: 'media-refused', sipStatus: 200 },
    null,
    'failed error/system media_refused',
  ],
  [
    'the media thread failed',
    { answered: true, by: 'local', cause: 'media-lost', sipStatus: 200 },
    null,
    'failed error/system media_lost',
  ],
  [
    'the voice failed',
    { answered: true, by: 'local', cause: 'bye', sipStatus: 200 },
    'provider_failed',
    'failed error/system provider_failed',
  ],
  [
    'no ACK arrives',
    { answered: true, by: 'local', cause: 'timeout', sipStatus: 200 },
    null,
    'failed error/system signalling_lost',
  ],
  [
    'the caller gives up before the answer',
    { direction: 'inbound', by: 'remote', cause: 'cancelled', sipStatus: 487 },
    null,
    'completed caller_hung_up/caller -',
  ],
  [
    'the offer of the caller is not acceptable',
    { direction: 'inbound', by: 'local', cause: 'media-refused', sipStatus: 488 },
    null,
    'rejected',
  ],
]

describe('the state and outcome of a run by the end of its leg', () => {
  it.each(table)('the outcome of a run when %s', (_what, end, local, expected, hadCredentials) => {
    const { state, outcome } = runResult({ ...base, ...end }, local, hadCredentials)
    const text = outcome === null ? state : `${state} ${outcome.kind}/${outcome.ended_by} ${outcome.detail ?? '-'}`
    expect(text).toBe(expected)
    if (outcome !== null) expect(outcome.sip_status).toBe(end.sipStatus)
  })
})
