import { describe, expect, it } from 'vitest'
import { ScriptedCall } from './testing/scripted-call.ts'

/** Time from the caller's last sound to the report of the last turn, ms. */
const waitOf = (call: ScriptedCall) => call.turns.at(-1)!.givenMs - (call.turns.at(-1)!.endMs - 1_000_000)

describe('a turn of the caller', () => {
  it('a turn ends soon after a whole sentence or a short answer, later where more words are expected', () => {
    const waits = [
      'yes',
      'Yes, please.',
      'I would like to cancel my subscription.',
      'I want to speak with your manager',
      'I would like to',
      'I was thinking maybe um',
      'my phone number is 5 5 5',
      'it is spelled m a r',
      'I bought apples, pears, oranges,',
      'sí',
      'no gracias',
      'Quiero cambiar la cita de mañana.',
      'quiero hablar con',
      'mi correo es juan arroba',
      'pues este',
    ].map(text => {
      const call = new ScriptedCall({}, { finalMs: 0 }).connect()
      call.say(1000, text)
      call.runTo(20_000)
      expect(call.turns.map(turn => turn.text)).toEqual([text])
      return [text, waitOf(call)] as const
    })
    const soon = waits.filter(([, wait]) => wait <= 300).map(([text]) => text)
    const late = waits.filter(([, wait]) => wait >= 1300).map(([text]) => text)
    expect(soon).toEqual([
      'yes',
      'Yes, please.',
      'I would like to cancel my subscription.',
      'sí',
      'no gracias',
      'Quiero cambiar la cita de mañana.',
    ])
    expect(late).toEqual([
      'I would like to',
      'I was thinking maybe um',
      'my phone number is 5 5 5',
      'it is spelled m a r',
      'I bought apples, pears, oranges,',
      'quiero hablar con',
      'mi correo es juan arroba',
      'pues este',
    ])
    expect(Math.max(...waits.map(([, wait]) => wait))).toBeLessThanOrEqual(5000)
  })

  it.each([0, 500, 1000, 2000])(
    'a turn continues over a pause in mid-sentence of which a thread that stood still for %i ms hears both ends at once',
    stallMs => {
      const call = new ScriptedCall().connect()
      const at = (ms: number) => call.time.now() - call.now + ms
      call.at(1060, () => call.input({ type: 'voice-started', startedAt: at(1000) }))
      for (const [i, text] of ['I', 'would', 'like', 'to'].entries()) call.word(text, 1000 + 300 * i, 1250 + 300 * i)
      call.at(3110 + stallMs, () => {
        call.input({ type: 'voice-stopped', stoppedAt: at(2150) })
        call.deliverFinal(2150)
        call.input({ type: 'voice-started', startedAt: at(3050) })
      })
      for (const [i, text] of ['move', 'my', 'appointment.'].entries())
        call.word(text, 3050 + 300 * i, 3300 + 300 * i + stallMs)
      call.at(4100 + stallMs, () => call.input({ type: 'voice-stopped', stoppedAt: at(3900) }))
      call.runTo(20_000)
      expect(call.turns.map(({ text }) => text)).toEqual(['I would like to move my appointment.'])
    },
  )

  it('a turn continues over a pause in mid-sentence', () => {
    const call = new ScriptedCall().connect()
    const end = call.say(1000, 'I would like to')
    call.say(end + 900, 'move my appointment.')
    call.runTo(20_000)
    expect(call.turns.map(({ text }) => text)).toEqual(['I would like to move my appointment.'])
    expect(call.turns[0]).toMatchObject({ startMs: 1_001_000, endMs: 1_003_900 })
  })

  it('fixed endpointing ends a turn after exactly its silence, for any words', () => {
    for (const text of ['yes', 'I would like to']) {
      const call = new ScriptedCall({ endpointing: { mode: 'fixed', silenceMs: 650 } }, { finalMs: 80 }).connect()
      call.say(1000, text)
      call.runTo(20_000)
      expect(waitOf(call)).toBe(730)
      expect(call.turns[0]).toMatchObject({ endpointingMs: 650, recogniserMs: 80 })
    }
  })

  it('lower responsiveness ends a turn later; a new setting applies at once', () => {
    const waits = [1, 0.5, 0].map(responsiveness => {
      const call = new ScriptedCall({}, { finalMs: 0 }).connect()
      call.settings({ responsiveness })
      call.say(1000, 'I want to speak with your manager')
      call.runTo(20_000)
      return waitOf(call)
    })
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
    expect(waits[2]! - waits[0]!).toBeGreaterThan(500)
    const call = new ScriptedCall({ settings: { responsiveness: 0 } }, { finalMs: 0 }).connect()
    const end = call.say(1000, 'I want to speak with your manager')
    call.at(end + 800, () => call.settings({ responsiveness: 1 }))
    call.runTo(20_000)
    expect(waitOf(call)).toBe(800)
  })

  it('endpointing waits longer for a caller who pauses long in the middle of turns', () => {
    const wait = (pauseMs: number) => {
      const call = new ScriptedCall({}, { finalMs: 0 }).connect()
      let at = 1000
      for (let i = 0; i < 12; i++) {
        const end = call.say(at, 'I would like to have the')
        at = call.say(end + pauseMs, 'blue one.') + 3000
      }
      call.say(at, 'I want to speak with your manager')
      call.runTo(at + 20_000)
      return waitOf(call)
    }
    expect(wait(1200) - wait(300)).toBeGreaterThan(150)
  })

  it('endpointing waits longer without a full stop where the recogniser has written some', () => {
    const waitAfter = (before: string) => {
      const call = new ScriptedCall({}, { finalMs: 0 }).connect()
      for (let i = 0; i < 3; i++) call.say(1000 + i * 6000, before)
      call.say(20_000, 'I want to speak with your manager')
      call.runTo(30_000)
      return waitOf(call)
    }
    expect(waitAfter('I am still here.') - waitAfter('I am still here')).toBeGreaterThan(200)
  })

  it('the recogniser’s end-of-turn signal shortens the wait by its confidence, and a resumed turn cancels it', () => {
    const wait = (judge: (call: ScriptedCall) => void) => {
      const call = new ScriptedCall({}, { finalMs: 0 }).connect()
      const end = call.say(1000, 'I would like the')
      call.at(end + 220, () => judge(call))
      call.runTo(20_000)
      return waitOf(call)
    }
    const alone = wait(() => {})
    const eager = wait(call => call.input({ type: 'end-of-turn', confidence: 0.95, eager: true }))
    const firm = wait(call => call.input({ type: 'end-of-turn', confidence: 0.95, eager: false }))
    const resumed = wait(call => {
      call.input({ type: 'end-of-turn', confidence: 0.95, eager: false })
      call.input({ type: 'turn-resumed' })
    })
    expect(alone - eager).toBeGreaterThan(50)
    expect(eager - firm).toBeGreaterThan(400)
    expect(resumed).toBe(alone)
  })

  it('falling level and pitch of the voice shorten the wait a little', () => {
    const wait = (energyFallDb: number, pitchFallSemitones: number) => {
      const call = new ScriptedCall({}, { finalMs: 0 }).connect()
      call.say(1000, 'I want to speak with your manager', { energyFallDb, pitchFallSemitones })
      call.runTo(20_000)
      return waitOf(call)
    }
    expect(wait(-2, -3) - wait(10, 6)).toBeGreaterThan(100)
    expect(wait(-60, -60)).toBeLessThan(2000)
  })

  it('a turn is reported while the agent is busy', () => {
    const call = new ScriptedCall().connect()
    call.at(500, () => call.input({ type: 'agent-busy', busy: true }))
    call.say(1000, 'yes')
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn yes'])
  })

  it('words that the recogniser splits into several finals are one turn', () => {
    const call = new ScriptedCall({}, { partialMs: 200 }).connect()
    call.say(1000, 'please cancel the order from last week')
    call.at(1900, () => call.deliverFinal(1800))
    call.at(2500, () => call.deliverFinal(2400))
    call.runTo(20_000)
    expect(call.turns.map(({ text }) => text)).toEqual(['please cancel the order from last week'])
  })
})

describe('words that the recogniser has not delivered yet', () => {
  it('the recogniser is asked to finalise once after the silence, and its wait is reported apart', () => {
    const call = new ScriptedCall({}, { finalMs: 240 }).connect()
    call.say(1000, 'yes')
    call.runTo(20_000)
    expect(call.outputs.filter(({ output }) => output.type === 'finalize')).toHaveLength(1)
    const [turn] = call.turns
    expect(turn!.recogniserMs).toBe(240)
    expect(turn!.observedMs).toBe(1_000_000 + turn!.givenMs)
    expect(turn!.givenMs).toBe(1250 + turn!.endpointingMs + turn!.recogniserMs)
  })

  it('the recogniser is not asked to finalise when all words are final', () => {
    const call = new ScriptedCall().connect()
    call.say(1000, 'yes')
    call.at(1440, () => call.deliverFinal(1440))
    call.runTo(20_000)
    expect(call.outputs.some(({ output }) => output.type === 'finalize')).toBe(false)
    expect(call.turns[0]).toMatchObject({ text: 'yes', recogniserMs: 0, observedMs: 1_001_440 })
  })

  it('a turn waits 1 s for the final, then takes the partial; the late final makes no second turn', () => {
    const call = new ScriptedCall({}, { finalMs: 2500 }).connect()
    call.say(1000, 'cancel it')
    call.runTo(2600)
    call.say(6000, 'thanks.')
    call.runTo(20_000)
    expect(call.turns.map(({ text, recogniserMs }) => [text, recogniserMs])).toEqual([
      ['cancel it', 1000],
      ['thanks.', 1000],
    ])
  })

  it('a late final’s additional words belong to the next turn', () => {
    const call = new ScriptedCall({}, { finalMs: null }).connect()
    call.say(1000, 'cancel it')
    call.runTo(4000)
    expect(call.events).toEqual(['begin', 'turn cancel it'])
    call.input({
      type: 'final',
      text: 'Cancel it tomorrow.',
      words: [
        { text: 'Cancel', startMs: 1_000_990, endMs: 1_001_240 },
        { text: 'it', startMs: 1_001_310, endMs: 1_001_560 },
        { text: 'tomorrow.', startMs: 1_001_600, endMs: 1_002_000 },
      ],
      fromFinalize: true,
    })
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn cancel it', 'turn tomorrow.'])
  })

  it('a late final that revises the words of a turn makes no second turn', () => {
    const call = new ScriptedCall({}, { finalMs: null }).connect()
    call.say(1000, 'for tea please')
    call.runTo(4000)
    call.input({
      type: 'final',
      text: 'forty, please.',
      words: [
        { text: 'forty,', startMs: 1_001_010, endMs: 1_001_500 },
        { text: 'please.', startMs: 1_001_590, endMs: 1_001_850 },
      ],
      fromFinalize: true,
    })
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn for tea please'])
  })

  it('a turn stays open when the caller speaks again before the final came', () => {
    const call = new ScriptedCall({}, { finalMs: 700 }).connect()
    call.say(1000, 'I want to speak with your manager')
    // The turn is decided after about 0.6 s of silence; the voice returns 0.3 s later.
    call.say(3050 + 900, 'or with anybody.')
    call.runTo(20_000)
    expect(call.turns.map(({ text }) => text)).toEqual(['I want to speak with your manager or with anybody.'])
  })

  it('the recogniser is asked to finalise only once in the same silence', () => {
    const call = new ScriptedCall({}, { partialMs: null, finalMs: 100 }).connect()
    call.say(1000, 'I would like to')
    call.runTo(20_000)
    expect(call.turns.map(({ text, recogniserMs }) => [text, recogniserMs])).toEqual([['I would like to', 0]])
    expect(call.outputs.filter(({ output }) => output.type === 'finalize')).toHaveLength(1)
  })

  it('a final that shows an unfinished sentence keeps the turn open', () => {
    const call = new ScriptedCall({}, { partialMs: null, finalMs: 100 }).connect()
    call.say(1000, 'I would like to')
    call.say(2150 + 1150, 'come tomorrow.')
    call.runTo(20_000)
    expect(call.turns.map(({ text }) => text)).toEqual(['I would like to come tomorrow.'])
  })
})

describe('sounds without words', () => {
  it('a mumble is a blank turn', () => {
    const call = new ScriptedCall().connect().mumble(1000, 1800)
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn'])
    expect(call.turns[0]).toMatchObject({ text: '', words: [], startMs: 1_001_000, endMs: 1_001_800 })
  })

  it('a cough makes no turn', () => {
    const call = new ScriptedCall().connect().mumble(1000, 1200).voice(3000, 3400)
    call.runTo(20_000)
    expect(call.events).toEqual(['begin'])
  })

  it('a mumble before words does not change the words of the turn', () => {
    const call = new ScriptedCall().connect().mumble(1000, 1600, 250)
    call.say(1900, 'I said yes.')
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn I said yes.'])
  })
})

describe('errors of voice activity', () => {
  it('words without detected voice are a turn', () => {
    const call = new ScriptedCall().connect()
    call.words(1000, 'hello there.')
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn hello there.'])
    expect(call.turns[0]!.endMs).toBe(1_001_550)
  })

  it('a voice that never stops delays the turn by a bounded time', () => {
    const call = new ScriptedCall().connect().voice(1000, 60_000)
    call.words(1000, 'what are your opening hours')
    call.runTo(8000)
    expect(call.turns.map(({ text, givenMs }) => [text, givenMs])).toEqual([['what are your opening hours', 5550]])
  })

  it('a voice that never stops does not interrupt the answer to its words', () => {
    const call = new ScriptedCall().connect().voice(1000, 60_000).agentSpeaks(6000, 20_000)
    call.words(1000, 'what are your opening hours')
    call.runTo(30_000)
    expect(call.events).toEqual(['begin', 'turn what are your opening hours'])
  })

  it('the recogniser’s end-of-turn signal ends a turn although the voice never stops', () => {
    const call = new ScriptedCall().connect().voice(1000, 60_000)
    call.words(1000, 'what are your opening hours')
    call.at(2700, () => call.input({ type: 'end-of-turn', confidence: 0.9, eager: false }))
    call.runTo(8000)
    expect(call.turns[0]!.givenMs).toBeLessThan(3500)
  })

  it('impossible times of words and voice neither block a turn nor lose words', () => {
    const call = new ScriptedCall().connect()
    const words = [
      { text: 'now', startMs: Number.NaN, endMs: Number.POSITIVE_INFINITY },
      { text: ' ', startMs: 0, endMs: 0 },
      { text: 'please.', startMs: 9e12, endMs: 8e12 },
    ]
    call.at(1000, () => call.input({ type: 'voice-started', startedAt: 9e15 }))
    call.at(1500, () => call.input({ type: 'final', text: 'now please.', words, fromFinalize: false }))
    call.at(1600, () => call.input({ type: 'voice-stopped', stoppedAt: Number.NaN }))
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn now please.'])
  })
})

it('a monologue of 5000 words is split into turns of at most 4000 words', () => {
  const call = new ScriptedCall().connect()
  call.at(1000, () => call.input({ type: 'voice-started', startedAt: call.time.now() }))
  for (let i = 0; i < 500; i++) {
    const at = 1100 + i * 100
    const words = Array.from({ length: 10 }, (_, k) => ({
      text: `w${i * 10 + k}`,
      startMs: 1_000_000 + at + k * 10,
      endMs: 1_000_000 + at + k * 10 + 9,
    }))
    call.at(at + 110, () => call.input({ type: 'final', text: '', words, fromFinalize: false }))
  }
  call.runTo(80_000)
  const words = call.turns.flatMap(turn => turn.words.map(({ text }) => text))
  expect(call.turns[0]!.words).toHaveLength(4000)
  expect(words).toEqual(Array.from({ length: 5000 }, (_, i) => `w${i}`))
})
