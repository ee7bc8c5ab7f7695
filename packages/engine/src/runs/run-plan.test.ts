import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import type { CallEvent } from '../call.ts'
import { NO_RUN } from '../testing/drafts.ts'
import { callOwner, type ReadyRun, runHandler } from './run-plan.ts'

it("what an agent's settings take out of its runs is known before the call begins, with the variables that may hold names", () => {
  const redaction = { kinds: ['names'] } as const
  const known: unknown[] = []
  const ready = {
    run: { redact: (...given: unknown[]) => known.push(given), storesInputs: false },
    start: { own_numbers: [] },
    trunk: { details: {} },
    agent: { plan: { settings: { redaction } } },
    time: new VirtualTime(),
  } as unknown as ReadyRun
  const history = [{ role: 'user', content: 'My name is Ann.' }] as const
  runHandler(ready, { call: NO_RUN, variables: { name: 'Ida' }, context: { first_name: 'Bell' }, history })
  expect(known).toEqual([[redaction, { name: 'Ida', first_name: 'Bell' }, history]])
})

it('logs get the words and keys of a call without the personal data that its agent has taken out', () => {
  const shown = (isRedacted: boolean, event: CallEvent) => {
    const run = { isRedacted, asStored: (item: object) => ({ ...item, text: '[name]' }) }
    return callOwner({ run } as unknown as ReadyRun).shown!(event)
  }
  const said = { type: 'timeline', item: { kind: 'utterance', text: 'Ida' } } as unknown as CallEvent
  const key = { type: 'leg', event: { type: 'digit', digit: '4' } } as unknown as CallEvent
  const answered: CallEvent = { type: 'leg', event: { type: 'answered' } }
  expect([said, key, answered].map(event => shown(true, event))).toEqual([
    { type: 'timeline', item: { kind: 'utterance', text: '[name]' } },
    null,
    answered,
  ])
  expect([said, key].map(event => shown(false, event))).toEqual([said, key])
})
