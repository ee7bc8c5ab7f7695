import { describe, expect, it } from 'vitest'
import type { DetectorOptions } from './testing/scripted-call.ts'
import { ScriptedCall } from './testing/scripted-call.ts'

function contracted(detectors: DetectorOptions = {}): ScriptedCall {
  const call = new ScriptedCall({ silenceContractMs: 2000 }, detectors).connect()
  call.at(1, () => call.input({ type: 'agent-sound', on: true }))
  call.at(500, () => call.input({ type: 'agent-sound', on: false }))
  return call
}

/** What the contract did, each with its ms since the caller's turn. */
function since(call: ScriptedCall, of: 'turn' | 'begin' | 'digits' = 'turn'): string[] {
  const from = call.outputs.find(({ output }) => output.type === of)!.at
  return call.outputs.flatMap(({ at, output }) => {
    if (output.type === 'breach') return [`${at - from} breach ${output.stage} ${output.ms}`]
    return output.type === 'hold' || output.type === 'nudge' ? [`${at - from} ${output.type}`] : []
  })
}

/** The caller says "yes" at 1000; the agent works from its turn on. */
function answering(rest: (call: ScriptedCall, turnAt: number) => void): string[] {
  const call = contracted()
  call.say(1000, 'yes')
  call.at(1600, () => call.input({ type: 'agent-busy', busy: true }))
  const turnAt = 1616
  rest(call, turnAt)
  call.runTo(9000)
  expect(call.turns[0]!.givenMs).toBe(turnAt)
  return since(call)
}

describe('the silence contract', () => {
  it('no holding line is requested when the answer is audible in time', () => {
    const events = answering((call, at) => {
      call.at(at + 1400, () => call.input({ type: 'agent-sound', on: true }))
    })
    expect(events).toEqual([])
  })

  it('a holding line is requested before the contract ends, and again while nothing is audible', () => {
    expect(answering(() => {}).slice(0, 4)).toEqual(['1500 hold', '2000 breach null 2000', '2500 hold', '3500 hold'])
  })

  it('a holding line counts as sound, and the silence after it is bounded again', () => {
    const events = answering((call, at) => {
      call.at(at + 1600, () => call.input({ type: 'agent-sound', on: true }))
      call.at(at + 2600, () => call.input({ type: 'agent-sound', on: false }))
      call.at(at + 4300, () => call.input({ type: 'agent-sound', on: true }))
    })
    expect(events).toEqual(['1500 hold', '4100 hold'])
  })

  it('words that are not audible count as work', () => {
    const events = answering((call, at) => {
      call.at(at + 300, () => call.input({ type: 'agent-pending', pending: true }))
      call.at(at + 300, () => call.input({ type: 'agent-busy', busy: false }))
      call.at(at + 1550, () => call.input({ type: 'agent-sound', on: true }))
    })
    expect(events).toEqual(['1500 hold'])
  })

  it('an agent that owes an answer and does nothing is asked to speak, once', () => {
    const events = answering((call, at) => {
      call.at(at + 100, () => call.input({ type: 'agent-busy', busy: false }))
    })
    expect(events).toEqual(['1000 nudge'])
  })

  it('nothing is said over a caller who speaks', () => {
    const events = answering((call, at) => {
      call.voice(at + 1000, at + 4000)
      call.at(at + 5500, () => call.input({ type: 'agent-sound', on: true }))
    })
    expect(events).toEqual([])
  })

  it('an agent that waits for the caller owes nothing', () => {
    const events = answering((call, at) => {
      call.at(at + 100, () => call.input({ type: 'agent-sound', on: true }))
      call.at(at + 100, () => call.input({ type: 'agent-busy', busy: false }))
      call.at(at + 900, () => call.input({ type: 'agent-sound', on: false }))
    })
    expect(events).toEqual([])
  })

  it('the greeting is bounded from the beginning of the conversation on', () => {
    const call = new ScriptedCall({ silenceContractMs: 2000 })
    call.at(700, () => call.connect())
    call.at(701, () => call.input({ type: 'agent-pending', pending: true }))
    call.runTo(2300)
    expect(since(call, 'begin')).toEqual(['1500 hold'])
  })

  it('keys are answered within the contract as well', () => {
    const call = contracted()
    call.press(1000, '5')
    call.runTo(9000)
    expect(since(call, 'digits')).toEqual(['1000 nudge'])
  })

  it('a wait of more than 5 s for the end of a turn is a breach of endpointing', () => {
    for (const [silenceMs, breaches] of [
      [4900, 0],
      [5200, 1],
    ] as const) {
      const call = new ScriptedCall({ silenceContractMs: 2000, endpointing: { mode: 'fixed', silenceMs } }).connect()
      call.say(1000, 'yes please')
      call.runTo(12_000)
      expect(since(call).filter(line => line.includes('breach endpointing'))).toHaveLength(breaches)
    }
  })

  it('without a contract nothing is requested', () => {
    const call = new ScriptedCall().connect()
    call.at(1, () => call.input({ type: 'agent-busy', busy: true }))
    call.runTo(60_000)
    expect(call.events).toEqual(['begin'])
  })
})

describe('a line that hears energy and gets no words', () => {
  it('speech without any word becomes a blank turn, with the recogniser as its stage', () => {
    const call = contracted({ finalMs: null })
    call.voice(1000, 2400)
    call.runTo(9000)
    expect(call.turns).toMatchObject([{ text: '' }])
    expect(since(call).some(line => line.includes('breach recogniser'))).toBe(true)
  })

  it('a cough and music become no turn', () => {
    const call = contracted()
    call.voice(1000, 1500)
    call.voice(4000, 14_000)
    call.runTo(30_000)
    expect(call.turns).toEqual([])
  })

  it('a recogniser that does not answer finalize is a breach of its stage', () => {
    const call = contracted({ finalMs: null })
    call.say(1000, 'yes please')
    call.runTo(9000)
    expect(since(call)[0]).toMatch(/^0 breach recogniser 1000/)
  })
})
