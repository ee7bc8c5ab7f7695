import { describe, expect, it } from 'vitest'
import { TurnMeter } from './turn-meter.ts'

/** 20 ms in which samples `from` to `to` are as loud as `peak`. */
const frame = (peak: number, from = 0, to = 160) => new Int16Array(160).fill(-peak, from, to)
const SILENCE = frame(0)

describe('TurnMeter', () => {
  it('a turn is measured from the caller’s last audible frame to the agent’s first', async () => {
    const meter = new TurnMeter()
    const turn = meter.turn()
    meter.sent(1000, frame(8000), 480)
    meter.heard(1005, SILENCE)
    meter.sent(1020, frame(1000, 0, 40), 320)
    meter.sent(1040, frame(999), 160)
    meter.sent(1060, SILENCE, 0)
    meter.sent(1080, frame(8000), 0)
    meter.heard(1500, frame(999))
    meter.heard(1520, frame(1000, 159))
    meter.heard(1540, frame(8000))
    expect(await turn).toEqual({ lastSentAt: 1020, lastSoundAt: 1005, firstHeardAt: 1520 })
    expect(meter.lastHeardAt).toBe(1540)
  })

  it.each([
    ['before the caller was audible', 0],
    ['while the caller was still speaking', 1],
  ])('a turn is not measured if the agent speaks %s', async (_when, audible) => {
    const meter = new TurnMeter()
    const turn = meter.turn()
    for (let i = 0; i < audible; i++) meter.sent(1000, frame(8000), 160)
    meter.heard(1010, frame(8000))
    await expect(turn).rejects.toThrow('the agent spoke before the caller had finished')
  })

  it('the time when the agent was last audible is known, also between turns', () => {
    const meter = new TurnMeter()
    expect(meter.lastHeardAt).toBeNull()
    meter.heard(10, SILENCE)
    expect(meter.lastHeardAt).toBeNull()
    meter.heard(30, frame(5000))
    meter.heard(50, SILENCE)
    expect(meter.lastHeardAt).toBe(30)
  })
})
