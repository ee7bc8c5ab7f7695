import { describe, expect, it } from 'vitest'
import { ScriptedCall } from './testing/scripted-call.ts'

const reminding = { settings: { reminderTriggerMs: 5000, reminderMaxCount: 2 } }

describe('the agent’s first words', () => {
  it('the agent begins after the call is connected and the begin delay is over', () => {
    const call = new ScriptedCall({ beginMessageDelayMs: 800 })
    call.say(100, 'is anybody there')
    call.runTo(60_000)
    expect(call.timedEvents).toEqual([])
    call.connect().runTo(70_000)
    expect(call.timedEvents[0]).toBe('60800 begin after: is anybody there')
  })

  it('the agent begins at once without a delay, and only once', () => {
    const call = new ScriptedCall().connect().connect().runTo(50_000)
    expect(call.timedEvents).toEqual(['0 begin'])
  })

  it('words spoken during the delay are reported as the opening', () => {
    const call = new ScriptedCall({ beginMessageDelayMs: 3000 }).connect()
    call.say(500, 'hello?')
    call.say(2000, 'yes.')
    call.runTo(20_000)
    expect(call.timedEvents).toEqual(['3000 begin after: hello? yes.'])
  })

  it('the agent does not begin while the far end speaks', () => {
    const call = new ScriptedCall({ beginMessageDelayMs: 1000 }).connect()
    call.say(800, 'good morning this is the front desk.')
    call.runTo(20_000)
    expect(call.timedEvents).toHaveLength(1)
    expect(call.timedEvents[0]).toMatch(/^3\d\d\d begin after: good morning this is the front desk\.$/)
  })

  it('a far end that speaks on delays the agent by at most 3 s', () => {
    const call = new ScriptedCall({ beginMessageDelayMs: 1000 }).connect().voice(800, 50_000).runTo(20_000)
    expect(call.timedEvents).toEqual(['4000 begin'])
  })

  describe('where the far end is to speak first', () => {
    const waiting = { openerWaitsForCallee: true }

    it('the agent begins after the first words of the far end', () => {
      const call = new ScriptedCall(waiting).connect()
      call.say(2000, 'Grant residence.')
      call.runTo(20_000)
      expect(call.timedEvents).toHaveLength(1)
      expect(call.timedEvents[0]).toMatch(/^2[89]\d\d begin after: Grant residence\.$/)
    })

    it('the agent begins after a mumble, without an opening', () => {
      const call = new ScriptedCall(waiting).connect().mumble(1000, 1500).runTo(20_000)
      expect(call.events).toEqual(['begin'])
      expect(Number.parseInt(call.timedEvents[0]!, 10)).toBeLessThan(3000)
    })

    it('the agent begins after 5 s of silence, or after the configured patience', () => {
      expect(new ScriptedCall(waiting).connect().runTo(20_000).timedEvents).toEqual(['5000 begin'])
      const hurried = new ScriptedCall({ ...waiting, openerPatienceMs: 1200 }).connect()
      expect(hurried.runTo(20_000).timedEvents).toEqual(['1200 begin'])
    })

    it('the patience counts from the far end’s last sound', () => {
      const call = new ScriptedCall(waiting).connect().voice(3000, 3300).runTo(20_000)
      expect(call.timedEvents).toEqual(['8300 begin'])
    })

    it('the agent never begins before the begin delay is over', () => {
      const call = new ScriptedCall({ ...waiting, beginMessageDelayMs: 7000 }).connect()
      call.say(500, 'yes?')
      expect(call.runTo(20_000).timedEvents).toEqual(['7000 begin after: yes?'])
      const silent = new ScriptedCall({ ...waiting, beginMessageDelayMs: 7000 }).connect()
      expect(silent.runTo(20_000).timedEvents).toEqual(['7000 begin'])
    })

    it('the agent waits for the end of a long greeting', () => {
      const call = new ScriptedCall(waiting).connect()
      call.say(
        500,
        'you have reached the office of somebody who is never there at this time of the day or any other day.',
      )
      call.runTo(20_000)
      expect(call.timedEvents).toHaveLength(1)
      expect(call.timedEvents[0]).toContain('any other day.')
    })

    it('the agent does not wait for music to end', () => {
      const call = new ScriptedCall(waiting).connect().voice(200, 60_000).runTo(20_000)
      expect(call.timedEvents).toEqual(['6200 begin'])
    })
  })
})

describe('reminders', () => {
  it('reminders come after the configured silence of both sides, at most as often as configured', () => {
    const call = new ScriptedCall(reminding).connect().agentSpeaks(0, 2000).agentSpeaks(7500, 9000).runTo(60_000)
    expect(call.timedEvents).toEqual(['0 begin', '7000 reminder', '14000 reminder'])
  })

  it('the count of reminders restarts once the caller has spoken or pressed a digit', () => {
    const call = new ScriptedCall(reminding).connect()
    call.say(11_000, 'I am here.')
    call.press(30_000, '5')
    call.runTo(60_000)
    expect(call.events.filter(event => event === 'reminder')).toHaveLength(6)
  })

  it('a reminder waits while the agent is busy, the caller speaks or digits are entered', () => {
    const call = new ScriptedCall(reminding).connect()
    call.at(1000, () => call.input({ type: 'agent-busy', busy: true }))
    call.at(9000, () => call.input({ type: 'agent-busy', busy: false }))
    call.voice(13_500, 13_900)
    call.at(17_000, () =>
      call.input({ type: 'collect-digits', digitLimit: null, terminationKey: '#', timeoutMs: 9000 }),
    )
    call.press(18_000, '12')
    call.runTo(35_000)
    expect(call.timedEvents).toEqual(['0 begin', '27200 digits 12', '27200 reminder', '32200 reminder'])
  })

  it('reminders follow the current settings; a trigger of 0 means none', () => {
    const call = new ScriptedCall().connect()
    call.at(20_000, () => call.settings({ reminderTriggerMs: 25_000, reminderMaxCount: 1 }))
    call.runTo(200_000)
    expect(call.timedEvents).toEqual(['0 begin', '25000 reminder'])
  })

  it('coughs neither suppress reminders nor restart their count', () => {
    const call = new ScriptedCall({ settings: { reminderTriggerMs: 5000, reminderMaxCount: 1 } }).connect()
    for (let at = 6000; at < 60_000; at += 9000) call.voice(at, at + 300)
    call.runTo(60_000)
    expect(call.events).toEqual(['begin', 'reminder'])
  })

  it('continuous noise does not suppress reminders', () => {
    const call = new ScriptedCall(reminding).connect().voice(1000, 100_000).runTo(20_000)
    expect(call.events).toEqual(['begin', 'reminder', 'reminder'])
  })
})

describe('the opening by the caller', () => {
  it('the agent opens the conversation when the caller has not within the given time', () => {
    const call = new ScriptedCall(reminding).connect()
    call.at(10, () => call.input({ type: 'await-opening', afterMs: 12_000 }))
    call.runTo(15_000)
    expect(call.timedEvents).toEqual(['0 begin', '12010 opening'])
  })

  it('the caller’s first words end the wait for the opening', () => {
    const call = new ScriptedCall().connect()
    call.at(10, () => call.input({ type: 'await-opening', afterMs: 5000 }))
    call.say(4000, 'I have a question about my bill.')
    call.runTo(60_000)
    expect(call.events).toEqual(['begin', 'turn I have a question about my bill.'])
  })

  it('a wait for the opening without a time ends only at the silence limit', () => {
    const call = new ScriptedCall({ ...reminding, endCallAfterSilenceMs: 90_000 }).connect()
    call.at(10, () => call.input({ type: 'await-opening', afterMs: null }))
    call.runTo(200_000)
    expect(call.timedEvents).toEqual(['0 begin', '90000 limit'])
  })
})

describe('the silence limit', () => {
  it('the silence limit counts only the time in which the agent waits for the caller', () => {
    const call = new ScriptedCall({ endCallAfterSilenceMs: 20_000 }).connect()
    // The clock runs for 3 s until the agent speaks, for 2 s until it is busy, for 1 s until a voice; then 14 s are left.
    call.agentSpeaks(3000, 8000)
    call.at(10_000, () => call.input({ type: 'agent-busy', busy: true }))
    call.at(20_000, () => call.input({ type: 'agent-busy', busy: false }))
    call.at(21_000, () => call.input({ type: 'voice-started', startedAt: call.time.now() }))
    call.at(23_000, () => call.input({ type: 'voice-stopped', stoppedAt: call.time.now() }))
    call.runTo(100_000)
    expect(call.timedEvents).toEqual(['0 begin', '37000 limit'])
  })

  it('words, digits and speech without words restart the silence limit', () => {
    const call = new ScriptedCall({ endCallAfterSilenceMs: 20_000 }).connect()
    call.say(15_000, 'hm hm.')
    call.press(30_000, '1')
    call.mumble(48_000, 49_000)
    call.runTo(62_000)
    expect(call.events).not.toContain('limit')
    call.runTo(80_000)
    expect(call.events.at(-1)).toBe('limit')
  })

  it('nothing but keys is reported after the silence limit', () => {
    const call = new ScriptedCall({ ...reminding, endCallAfterSilenceMs: 20_000 }).connect()
    call.runTo(25_000)
    call.say(30_000, 'hello?')
    call.press(31_000, '1#')
    call.runTo(4_000_000)
    expect(call.events).toEqual(['begin', 'reminder', 'reminder', 'limit', 'unused digits 1', 'unused digits #'])
    expect(call.machine.deadline()).toBeUndefined()
  })
})

describe('the maximum duration', () => {
  it('the maximum duration ends the call once, even while both sides speak', () => {
    const call = new ScriptedCall({ maxCallDurationMs: 10_000 }).connect().agentSpeaks(1000, 20_000).voice(9000, 30_000)
    call.press(9900, '12')
    call.runTo(4_000_000)
    expect(call.timedEvents).toEqual([
      '0 begin',
      '9150 duck',
      '9300 pause',
      '10000 unduck',
      '10000 resume',
      '10000 unused digits 1',
      '10000 max-duration',
      '10100 unused digits 2',
    ])
    expect(call.machine.deadline()).toBeUndefined()
  })

  it('the maximum duration counts from the connection of the call', () => {
    const call = new ScriptedCall({ maxCallDurationMs: 10_000 }).runTo(7000)
    call.connect().runTo(60_000)
    expect(call.timedEvents).toEqual(['7000 begin', '17000 max-duration'])
  })
})
