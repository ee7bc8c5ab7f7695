import { NARROWBAND, samplesToMs } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, find, speaks } from '../testing/audio-harness.ts'
import { draftOf } from '../testing/drafts.ts'

let stage: AudioHarness | null = null

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

const staticText = (text: string) => ({ type: 'static_text' as const, text })
const failed = {
  id: 'failed',
  transition_condition: { type: 'prompt' as const, prompt: 'Swap failed' },
  destination_node_id: 'sorry',
}
const swap = {
  id: 'swap',
  type: 'agent_swap' as const,
  agent_id: 'billing',
  instruction: staticText('I put you through to billing.'),
  speak_during_execution: true,
  edge: failed,
}
const sorry = {
  id: 'sorry',
  type: 'end' as const,
  instruction: staticText('Nobody is there.'),
  speak_during_execution: true,
}
const start = draftOf([swap, sorry])
const desk = { ...start, flow: { ...start.flow, default_dynamic_variables: { customer: 'Ada' } } }
const billing = draftOf([
  { id: 'ask', type: 'conversation', instruction: { type: 'prompt', text: 'Help {{customer}} with the bill.' } },
  { id: 'end', type: 'end' },
])

const said = (items: AudioHarness['items']) => items.flatMap(item => (item.kind === 'utterance' ? [item.text] : []))

describe('a flow that hands its call to another agent', () => {
  it('the other agent continues the call with what was said and with the variables, in a run of its own', async () => {
    stage = await AudioHarness.open({
      draft: desk,
      successor: billing,
      answers: [speaks('How can I help?'), speaks('It is ten euros.')],
    })
    const call = stage
    await call.until(() => said(call.itemsOfSuccessor).length === 1, 9000, 'the other agent has spoken')
    expect(call.swaps).toMatchObject([{ type: 'swap_agent', agent_id: 'billing', agent_version: null }])
    expect(said(call.items)).toEqual(['I put you through to billing.'])
    expect(said(call.itemsOfSuccessor)).toEqual(['How can I help?'])
    expect(call.handOver).toMatchObject({ successor: 'second', segments: null })
    expect(call.call?.run?.runId).toBe('second')
    const [asked] = call.requests
    expect(JSON.stringify(asked?.messages)).toContain('Help Ada with the bill.')
    expect(asked?.messages.map(({ content }) => content)).toContain('I put you through to billing.')

    call.says('what does it cost')
    await call.until(() => said(call.itemsOfSuccessor).length === 3, 9000, 'answered')
    expect(said(call.itemsOfSuccessor).slice(1)).toEqual(['what does it cost', 'It is ten euros.'])
    expect(said(call.items)).toHaveLength(1)
    call.caller.hangUp()
    await call.until(() => call.report !== null, 3000, 'over')
    expect(call.report?.run).toMatchObject({ state: 'completed', outcome: { kind: 'caller_hung_up' } })
    expect(call.report?.utterances.map(({ text }) => text)).toEqual(said(call.itemsOfSuccessor))
  })

  it('the clock of the other run begins where the call was handed over', async () => {
    stage = await AudioHarness.open({ draft: desk, successor: billing, answers: [speaks('How can I help?')] })
    const call = stage
    await call.until(() => said(call.itemsOfSuccessor).length === 1, 9000, 'the other agent has spoken')
    const audio = call.line.b.captured().right
    const [first, second] = ['I put you through to billing.', 'How can I help?'].map(text =>
      samplesToMs(find(audio, call.voice.sound(text)).at, NARROWBAND),
    )
    const [utterance] = call.itemsOfSuccessor.filter(item => item.kind === 'utterance')
    // It is counted from the end of the words before, a moment after which the call was handed over.
    const words = samplesToMs(call.voice.sound('I put you through to billing.').length, NARROWBAND)
    expect(utterance?.start_ms).toBeGreaterThan(0)
    expect(utterance?.start_ms).toBeLessThan(second! - first! - words + 20)
  })

  it.each([100, 1000, 1900])(
    'a caller who talks from %i ms on until after the change hears the last words of the other agent',
    async at => {
      stage = await AudioHarness.open({
        draft: desk,
        successor: draftOf([{ ...sorry, instruction: staticText('Billing is closed.') }]),
      })
      const call = stage
      await call.pass(at)
      call.says('hello I would like to ask about my bill please')
      await call.until(() => call.report !== null, 30_000, 'over')
      expect(said(call.itemsOfSuccessor)).toContain('Billing is closed.')
      expect(call.report?.run.outcome).toMatchObject({ kind: 'completed', ended_by: 'agent' })
    },
  )

  it('the flow takes the failure edge if no agent takes over the call', async () => {
    stage = await AudioHarness.open({ draft: desk })
    const call = stage
    await call.until(() => call.report !== null, 9000, 'over')
    expect(said(call.items)).toEqual(['I put you through to billing.', 'Nobody is there.'])
    expect(call.timeline('node').map(({ node_id, cause }) => [node_id, cause])).toEqual([
      ['swap', 'start'],
      ['sorry', 'failure'],
    ])
    expect(call.timeline('action').map(({ action_id, phase }) => [action_id, phase])).toEqual([
      ['agent.swap', 'started'],
      ['agent.swap', 'failed'],
    ])
    expect(call.report?.run.outcome).toMatchObject({ kind: 'completed', ended_by: 'agent' })
  })

  it('a hang-up while the other agent gets ready ends the first run, and the second run is abandoned', async () => {
    stage = await AudioHarness.open({ draft: desk, successor: billing })
    const call = stage
    await call.until(() => call.swaps.length === 1, 9000, 'requested')
    call.caller.hangUp()
    await call.until(() => call.report !== null, 3000, 'over')
    expect(call.handOver).toBeNull()
    expect(call.isSuccessorAbandoned).toBe(true)
    expect(call.report?.run.outcome).toMatchObject({ kind: 'caller_hung_up' })
  })
})
