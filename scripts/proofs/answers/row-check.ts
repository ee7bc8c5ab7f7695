import type { Ms } from '@parley/kernel'
import { readWav } from '@parley/media'
import { CallSound } from '../services/call-sound.ts'
import type { AnswerRow } from './answer-rows.ts'
import type { RowEvidence } from './answering-platform.ts'

/** What a call shows that its row does not expect. `messageWithinMs`: how late after the beep a message may begin. */
export function faultsOf({ expected }: AnswerRow, evidence: RowEvidence, messageWithinMs: Ms): string[] {
  const { run, timeline, heard, digits } = evidence
  const classes = timeline.flatMap(item => (item.kind === 'contact' ? [item.class] : []))
  const found = {
    classes: classes.slice(-expected.classes.length).join(),
    contact: run.contact,
    answered_by: run.answered_by,
    kind: run.outcome?.kind ?? null,
    detail: run.outcome?.detail ?? null,
    ended_by: run.outcome?.ended_by ?? null,
    disposition: run.disposition,
    digits,
  }
  const wanted = { ...expected, classes: expected.classes.join(), digits: expected.digits ?? '' }
  const faults = (Object.keys(found) as (keyof typeof found)[])
    .filter(name => found[name] !== wanted[name])
    .map(name => `${name} is ${found[name]}, not ${wanted[name]}`)
  if (expected.hears !== undefined && !expected.hears.test(heard)) faults.push(`the far end heard only "${heard}"`)
  if (expected.neverHears?.test(heard)) faults.push(`the far end heard "${heard}"`)
  return [...faults, ...storedFaults(expected, evidence), ...messageFaults(expected, evidence, messageWithinMs)]
}

/** Effects, recording and webhook. */
function storedFaults(expected: AnswerRow['expected'], { run, effects, wav, webhook }: RowEvidence): string[] {
  const faults: string[] = []
  const states = (kind: string) => effects.filter(({ effect_kind }) => effect_kind === kind).map(({ state }) => state)
  if (states('sip_dial').join() !== 'succeeded') faults.push(`the effects sip_dial are ${states('sip_dial')}`)
  const hangups = expected.ended_by === 'agent' ? 'succeeded' : ''
  if (states('sip_hangup').join() !== hangups) faults.push(`the effects sip_hangup are ${states('sip_hangup')}`)
  if (wav === null) faults.push('there is no recording')
  else if (readWav(wav).channels.length !== 2) faults.push('the recording does not have two channels')
  if (webhook === null) faults.push('no webhook "run.ended" came')
  else if (webhook.contact !== run.contact || webhook.answered_by !== run.answered_by)
    faults.push(`the webhook says ${webhook.contact}, ${webhook.answered_by}`)
  return faults
}

/** The message was interrupted, or begins before the end of the beep or later than allowed after it. */
function messageFaults(
  { leavesMessage }: AnswerRow['expected'],
  { utterances, wav }: RowEvidence,
  withinMs: Ms,
): string[] {
  if (leavesMessage === undefined) return []
  const [caller, agent] = wav === null ? [] : readWav(wav).channels
  const message = utterances.findLast(({ role }) => role === 'agent')
  if (caller === undefined || agent === undefined || message?.start_ms == null)
    return ['there is no recording or no message']
  const delay = message.start_ms - new CallSound(caller, agent).lastCallerSoundMs(message.start_ms)
  if (message.interrupted) return ['the message was interrupted']
  return delay >= 0 && delay <= withinMs ? [] : [`the message began ${Math.round(delay)} ms after the beep`]
}
