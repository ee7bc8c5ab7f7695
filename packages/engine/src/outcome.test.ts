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

type Row = [what: string, end: Partial<LegEnd>, local: LocalEnding | null, result: string]

/** `state outcome.kind/ended_by detail` */
const table: Row[] = [
  [
    'goodbye played, BYE answered',
    { answered: true, by: 'local', cause: 'bye', sipStatus: 200 },
    'completed',
    'completed completed/agent -',
  ],
  [
    'the far end hangs up',
    { answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
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
    'the far end knows no such dialog any more',
    { answered: true, by: 'remote', cause: 'protocol', sipStatus: 200 },
    null,
    'failed error/system signalling_lost',
  ],
  [
    'the far end never acknowledges our answer',
    { direction: 'inbound', answered: false, by: 'remote', cause: 'timeout', sipStatus: 200 },
    null,
    'failed error/system signalling_lost',
  ],
  [
    'both hang up at once, theirs came first',
    { answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
    'completed',
    'completed caller_hung_up/caller -',
  ],
  [
    'the caller was transferred, and its BYE came first',
    { answered: true, by: 'remote', cause: 'bye', sipStatus: 200 },
    'transferred',
    'completed transferred/agent -',
  ],
  [
    'too long a call',
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
    'an operator cancels while it rings',
    { by: 'local', cause: 'cancelled', sipStatus: 487 },
    'cancelled',
    'cancelled cancelled/operator -',
  ],
  ['nobody answers in time', { by: 'local', cause: 'cancelled', sipStatus: 487 }, null, 'completed no_answer/system -'],
  [
    'no final answer at all (Timer B)',
    { by: 'local', cause: 'timeout', sipStatus: 408 },
    null,
    'completed no_answer/system -',
  ],
  ['480', { sipStatus: 480 }, null, 'completed no_answer/system -'],
  ['486', { sipStatus: 486 }, null, 'completed busy/caller -'],
  ['600', { sipStatus: 600 }, null, 'completed busy/caller -'],
  ['603', { sipStatus: 603 }, null, 'completed busy/caller -'],
  ['404', { sipStatus: 404 }, null, 'failed error/system number_not_found'],
  ['484', { sipStatus: 484 }, null, 'failed error/system number_not_found'],
  ['401 after our credentials', { sipStatus: 401 }, null, 'failed error/system trunk_auth_failed'],
  ['407 after our credentials', { sipStatus: 407 }, null, 'failed error/system trunk_auth_failed'],
  ['403', { sipStatus: 403 }, null, 'failed error/system trunk_auth_failed'],
  ['488', { sipStatus: 488 }, null, 'failed error/system media_refused'],
  ['302 is never followed', { sipStatus: 302 }, null, 'failed error/system sip_error'],
  ['500', { sipStatus: 500 }, null, 'failed error/system sip_error'],
  [
    'no way to the trunk',
    { by: 'local', cause: 'transport', sipStatus: 503 },
    null,
    'failed error/system trunk_unreachable',
  ],
  [
    'an answer we cannot take',
    { by: 'local', cause: 'media-refused', sipStatus: 200 },
    null,
    'failed error/system media_refused',
  ],
  [
    'media thread died',
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
    'ACK never came',
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
    'we refuse the offer',
    { direction: 'inbound', by: 'local', cause: 'media-refused', sipStatus: 488 },
    null,
    'rejected',
  ],
]

describe('the state and outcome of a run by the end of its leg', () => {
  it.each(table)('%s', (_what, end, local, expected) => {
    const { state, outcome } = runResult({ ...base, ...end }, local)
    const text = outcome === null ? state : `${state} ${outcome.kind}/${outcome.ended_by} ${outcome.detail ?? '-'}`
    expect(text).toBe(expected)
    if (outcome !== null) expect(outcome.sip_status).toBe(end.sipStatus)
  })
})
