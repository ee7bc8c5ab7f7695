import { describe, expect, it } from 'vitest'
import { type DetectorOptions, ScriptedCall } from './testing/scripted-call.ts'

/** A call in which the agent speaks from 1 s on for 20 s, unless it is cut; `caller` scripts the caller. */
function callWith(
  sensitivity: number,
  caller: (call: ScriptedCall) => void,
  senses: DetectorOptions = {},
): ScriptedCall {
  const call = new ScriptedCall({ settings: { interruptionSensitivity: sensitivity } }, senses).connect()
  // The first speech is the greeting; the caller speaks during the second.
  call.agentSpeaks(100, 500).agentSpeaks(1000, 21_000)
  caller(call)
  return call.runTo(40_000)
}
const afterBegin = (call: ScriptedCall) => call.timedEvents.slice(1)

describe('a caller who accepts while the agent still asks', () => {
  const asks = (conditions: readonly string[]) => (line: ScriptedCall) => {
    line.input({ type: 'question', question: { agentWords: '', conditions, fields: [] } })
    line.say(5000, 'Yes, perfect.')
  }

  it('"yes, perfect" answers a question for a yes or no at once', () => {
    const call = callWith(1, asks(['the caller confirms the appointment']))
    expect(call.events).toContain('cut')
    expect(call.turns.map(({ text }) => text)).toEqual(['Yes, perfect.'])
  })

  it('"yes" is an acknowledgement and interrupts nothing where no yes or no is asked for', () => {
    const call = callWith(1, asks(['the caller names a day']))
    expect(call.events).not.toContain('cut')
    expect(call.turns).toEqual([])
  })

  it('a plain yes is an acknowledgement also there', () => {
    const call = callWith(1, line => {
      line.input({ type: 'question', question: { agentWords: '', conditions: ['the caller says yes'], fields: [] } })
      line.say(5000, 'Yes.')
    })
    expect(call.events).not.toContain('cut')
  })
})

describe('a caller who corrects a complete turn', () => {
  const corrected = (second: string, agent?: (call: ScriptedCall) => void) => {
    const call = new ScriptedCall().connect()
    call.input({ type: 'question', question: { agentWords: 'Which day?', conditions: [], fields: [] } })
    const until = call.say(1000, 'Tuesday.')
    agent?.(call)
    call.say(until + 900, second)
    return call.runTo(20_000)
  }
  const kinds = (call: ScriptedCall) => call.outputs.map(({ output }) => output.type)

  it('words that take the turn back before the agent is heard continue it', () => {
    const call = corrected('no, Wednesday.')
    expect(call.turns.map(({ text }) => text)).toEqual(['Tuesday.', 'no, Wednesday.'])
    expect(kinds(call).indexOf('turn-continued')).toBeGreaterThan(kinds(call).indexOf('turn'))
  })

  it('other words are a turn of their own', () => {
    expect(kinds(corrected('at ten.'))).not.toContain('turn-continued')
  })

  it.each([
    [1600, true],
    [2300, false],
  ])('words that began at %i ms and were recognised after the turn continue it: %s', (startMs, continues) => {
    const call = new ScriptedCall().connect()
    const origin = call.time.now()
    call.input({ type: 'question', question: { agentWords: 'Which day?', conditions: [], fields: [] } })
    call.say(1000, 'The second.')
    call.at(2600, () => {
      const words = [{ text: 'one, please.', startMs: origin + startMs, endMs: origin + startMs + 250 }]
      call.input({ type: 'final', text: 'one, please.', words, fromFinalize: false })
    })
    call.runTo(5000)
    expect(call.turns.map(({ text }) => text)).toEqual(['The second.', 'one, please.'])
    expect(kinds(call).includes('turn-continued')).toBe(continues)
  })

  it.each([
    [400, true],
    [1300, false],
  ])(
    'the last word of a turn, recognised %i ms after the agent began to answer, continues it: %s',
    (after, continues) => {
      const call = new ScriptedCall().connect()
      call.say(1000, 'I do not know.')
      call.at(3000, () => {
        const spoken = call.turns[0]!
        call.input({ type: 'agent-speaking', speaking: true })
        call.at(3000 + after, () => {
          const word = { text: 'it.', startMs: spoken.endMs, endMs: spoken.endMs }
          call.input({ type: 'final', text: 'it.', words: [word], fromFinalize: false })
        })
      })
      call.runTo(9000)
      expect(kinds(call).includes('turn-continued')).toBe(continues)
    },
  )

  it('a correction of what the agent has begun to say is a turn of its own', () => {
    const call = corrected('no, Wednesday.', line => line.agentSpeaks(1700, 1900))
    expect(kinds(call)).not.toContain('turn-continued')
  })
})

describe('a caller who speaks while the agent does', () => {
  it('a caller’s voice lowers the agent after 150 ms and pauses it after 300 ms; the first word stops it', () => {
    const call = callWith(1, line => line.say(5000, 'that is not what I asked for.'))
    expect(afterBegin(call).slice(0, 3)).toEqual(['5150 duck', '5300 pause', '5400 cut'])
    expect(call.events.slice(4)).toEqual(['unduck', 'turn that is not what I asked for.'])
  })

  it('a word that is recognised before 300 ms of voice stops the agent at once', () => {
    const call = callWith(0.4, line => line.say(5000, 'excuse me'), { partialMs: 10 })
    expect(afterBegin(call).slice(0, 4)).toEqual(['5150 duck', '5260 pause', '5260 cut', '5260 unduck'])
  })

  it.each([
    [1, 300],
    [0.75, 350],
    [0.5, 400],
    [0.25, 700],
    [0.01, 988],
  ])('at interruption sensitivity %f the agent pauses after %i ms of voice', (sensitivity, ms) => {
    const call = callWith(sensitivity, line => line.voice(5000, 6500))
    expect(afterBegin(call).slice(0, 2)).toEqual(['5150 duck', `${5000 + ms} pause`])
  })

  it('gaps between words do not keep a voice from pausing the agent', () => {
    const call = callWith(1, line => line.voice(5000, 5060).voice(5170, 5380).voice(5490, 5600), {
      onsetMs: 40,
      hangoverMs: 80,
    })
    expect(afterBegin(call)).toEqual(['5210 duck', '5300 pause', '6300 unduck', '6300 resume'])
  })

  it('the recogniser is asked to finalise in a silence, not between two words', () => {
    const call = callWith(1, line => line.voice(5000, 5900).voice(6020, 6800), { hangoverMs: 80 })
    const finalizedAt = call.outputs.filter(({ output }) => output.type === 'finalize').map(({ at }) => at - 1_000_000)
    expect(finalizedAt).toEqual([7000])
  })

  it('at interruption sensitivity 0 the caller’s words become a turn when the agent has finished', () => {
    const call = callWith(0, line => {
      line.say(5000, 'wait, stop.')
      line.say(9000, 'I said stop.')
      line.mumble(12_000, 14_000)
    })
    expect(afterBegin(call)).toEqual(['21100 turn wait, stop. I said stop.'])
    expect(call.turns[0]!.endpointingMs).toBe(0)
  })

  it.each(['stop', 'wait', 'no', 'actually', 'hold on', 'para', 'espera', 'un momento'])(
    'the word "%s" stops the agent at any sensitivity',
    word => {
      for (const sensitivity of [1, 0.2]) {
        const call = callWith(sensitivity, line => line.words(5000, `okay ${word}`))
        expect(call.events.filter(event => event === 'cut')).toHaveLength(1)
        expect(call.events.at(-1)).toBe(`turn okay ${word}`)
        expect(call.outputs.find(({ output }) => output.type === 'cut')!.at).toBe(1_005_700)
      }
    },
  )

  it('recognised words stop the agent even if voice activity detected nothing', () => {
    const call = callWith(1, line => line.words(5000, 'please listen'))
    expect(afterBegin(call)).toEqual(['5400 pause', '5400 cut', expect.stringMatching(/turn please listen$/)])
  })

  it('the turn that follows an interruption has its first words', () => {
    const call = callWith(1, line => line.say(5000, 'yeah okay but I wanted the other one.'))
    expect(call.events.at(-1)).toBe('turn yeah okay but I wanted the other one.')
  })

  it('a caller who was already speaking when the agent began stops it at once', () => {
    const call = new ScriptedCall().connect().agentSpeaks(100, 500)
    call.say(4000, 'and I also need to know what it costs.')
    call.agentSpeaks(5500, 9000)
    call.runTo(20_000)
    expect(call.timedEvents.slice(1, 3)).toEqual(['5500 pause', '5500 cut'])
    expect(call.events.at(-1)).toBe('turn and I also need to know what it costs.')
  })
})

describe('an agent that resumes its speech', () => {
  it('the agent resumes after a cough', () => {
    const call = callWith(1, line => line.voice(5000, 5200))
    expect(afterBegin(call)).toEqual(['5150 duck', '5300 pause', '5900 unduck', '5900 resume'])
  })

  it('the agent returns to full volume after a sound too short to pause it', () => {
    const call = callWith(0.1, line => line.voice(5000, 5200))
    expect(afterBegin(call)).toEqual(['5150 duck', '5400 unduck'])
  })

  it.each(['yeah', 'uh-huh', 'okay', 'I see', 'mm-hmm right', 'sí', 'si', 'ajá', 'vale', 'ya veo', 'um'])(
    'the agent resumes after "%s", which is no turn',
    word => {
      const call = callWith(1, line => line.say(5000, word))
      expect(call.events).toEqual(['begin', 'duck', 'pause', 'unduck', 'resume'])
    },
  )

  it('the agent resumes after a mumble of less than a second, which is no turn', () => {
    const call = callWith(1, line => line.mumble(5000, 5700))
    expect(call.events).toEqual(['begin', 'duck', 'pause', 'unduck', 'resume'])
  })

  it('the agent does not resume after a second of speech that was not understood', () => {
    const call = callWith(1, line => line.mumble(5000, 6200))
    expect(call.events).toEqual(['begin', 'duck', 'pause', 'cut', 'unduck', 'turn'])
  })

  it('the agent resumes when the recogniser has answered finalise, or after a second without an answer', () => {
    const slow = callWith(1, line => line.voice(5000, 5500), { finalMs: 600 })
    expect(afterBegin(slow).at(-1)).toBe('6300 resume')
    const never = callWith(1, line => line.voice(5000, 5500), { finalMs: null })
    expect(afterBegin(never).at(-1)).toBe('6700 resume')
    const held = callWith(1, line => line.say(5000, 'that is wrong'), { partialMs: null, finalMs: 300 })
    expect(held.events.slice(-3)).toEqual(['cut', 'unduck', 'turn that is wrong'])
  })

  it('the agent resumes when a voice without words lasts 6 s: it counts as noise', () => {
    const call = callWith(1, line => line.voice(5000, 60_000))
    expect(afterBegin(call)).toEqual(['5150 duck', '5300 pause', '11300 unduck', '11300 resume'])
  })

  it('words over continuous noise stop the agent', () => {
    const call = callWith(1, line => {
      line.voice(5000, 60_000)
      line.words(14_000, 'can you hear me')
    })
    expect(call.events.slice(5)).toEqual(['pause', 'cut', 'turn can you hear me'])
  })

  it('endless short sounds pause the agent only once', () => {
    const call = callWith(1, line => {
      for (let at = 5000; at < 20_000; at += 700) line.voice(at, at + 300)
    })
    const pauses = call.events.filter(event => event === 'pause').length
    expect(call.events.filter(event => event === 'resume')).toHaveLength(pauses)
    expect(pauses).toBe(1)
  })

  it('the agent resumes when interruptions become disallowed during the pause', () => {
    const call = callWith(1, line => {
      line.voice(5000, 8000)
      line.at(6000, () => line.settings({ interruptionSensitivity: 0 }))
    })
    expect(afterBegin(call)).toEqual(['5150 duck', '5300 pause', '6000 unduck', '6000 resume'])
  })

  it('a pause ends when the paused speech is withdrawn', () => {
    const call = callWith(1, line => {
      line.voice(5000, 8000)
      line.at(6000, () => line.agentSpeaking(false))
    })
    expect(afterBegin(call)).toEqual(['5150 duck', '5300 pause', '6000 unduck', '6000 resume'])
  })
})

describe('the turn after an interruption', () => {
  it('an interruption ends in a turn even if the recogniser withdraws the words', () => {
    const call = callWith(1, line => {
      line.at(5000, () =>
        line.input({ type: 'partial', text: 'the', words: [{ text: 'the', startMs: 0, endMs: 9e9 }] }),
      )
      line.at(5300, () => line.input({ type: 'final', text: '', words: [], fromFinalize: false }))
    })
    expect(call.events).toEqual(['begin', 'pause', 'cut', 'turn'])
    expect(call.turns[0]!.givenMs).toBeLessThan(7000)
  })

  it('an interruption ends in a turn even if the voice never stops', () => {
    const call = callWith(1, line => {
      line.voice(5000, 60_000)
      line.words(5100, 'stop talking')
    })
    expect(call.events.at(-1)).toBe('turn stop talking')
    expect(call.turns[0]!.givenMs).toBeLessThan(9000)
  })

  it('a new sensitivity applies to words that were said before it', () => {
    const call = callWith(0, line => {
      line.say(5000, 'I have a question')
      line.at(9000, () => line.settings({ interruptionSensitivity: 1 }))
    })
    expect(afterBegin(call).slice(0, 2)).toEqual(['9000 pause', '9000 cut'])
  })
})

describe('an acknowledgement while the agent speaks', () => {
  it('an acknowledgement is part of the turn when the caller goes on', () => {
    const call = callWith(1, line => {
      const end = line.say(5000, 'okay')
      line.say(end + 1200, 'but what does it cost?')
    })
    expect(call.events.slice(-3)).toEqual(['cut', 'unduck', 'turn okay but what does it cost?'])
  })

  it('an acknowledgement is not part of a turn that comes much later', () => {
    const call = callWith(1, line => {
      line.say(5000, 'okay')
      line.say(9000, 'what does it cost?')
    })
    expect(call.events.at(-1)).toBe('turn what does it cost?')
  })

  it('an acknowledgement just before the end of the agent’s speech is the answer to it', () => {
    const call = new ScriptedCall().connect().agentSpeaks(100, 500)
    call.at(1000, () => call.agentSpeaking(true))
    call.say(5000, 'yes')
    // The agent was paused at 5300 and resumed at 5950, with 400 ms of the question left.
    call.at(6350, () => call.agentSpeaking(false))
    call.runTo(20_000)
    expect(call.events.slice(-2)).toEqual(['resume', 'turn yes'])
  })

  it('an acknowledgement is the answer when the agent’s speech ended meanwhile', () => {
    const call = new ScriptedCall().connect().agentSpeaks(100, 500).agentSpeaks(1000, 5100)
    call.say(5000, 'yes')
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn yes'])
  })

  it('an acknowledgement that the final revises to another word interrupts the agent', () => {
    const call = callWith(1, line => {
      line.words(5000, 'okay')
      line.at(6500, () =>
        line.input({
          type: 'final',
          text: 'cocaine',
          words: [{ text: 'cocaine', startMs: 1_005_000, endMs: 1_005_250 }],
          fromFinalize: false,
        }),
      )
    })
    expect(call.events).toEqual(['begin', 'pause', 'cut', 'turn cocaine'])
  })

  it('"hello?" is an acknowledgement during the agent’s greeting, and an interruption later', () => {
    const call = new ScriptedCall().connect().agentSpeaks(100, 4000).agentSpeaks(6000, 12_000)
    call.say(1000, 'hello?')
    call.say(8000, 'hello?')
    call.runTo(20_000)
    expect(call.events).toEqual([
      'begin',
      'duck',
      'pause',
      'unduck',
      'resume',
      'duck',
      'pause',
      'cut',
      'unduck',
      'turn hello?',
    ])
  })
})
