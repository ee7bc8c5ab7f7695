import { randomBelow, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { markedAudio } from './testing/marked-audio.ts'
import { VirtualCall } from './testing/virtual-call.ts'

describe('playout', () => {
  it('the played position is exactly what the far end received, for any plays and flushes', async () => {
    const call = await VirtualCall.start()
    const random = new SeededRandom(7)
    let received = 0
    const into = new Int16Array(16_000)
    const listen = (ms: number): void => {
      for (let left = ms; left > 0; left -= 50) {
        call.time.advance(Math.min(50, left))
        for (let n = call.b.session.readHeard(into); n > 0; n = call.b.session.readHeard(into)) {
          for (let i = 0; i < n; i++) if (into[i] !== 0) received++
        }
      }
    }
    for (let turn = 0; turn < 200; turn++) {
      call.a.session.play(markedAudio(turn, randomBelow(random, 20_000)))
      listen(randomBelow(random, 1500))
      if (randomBelow(random, 2) === 0) {
        const stands = call.a.session.flush()
        expect(call.a.session.played()).toBe(stands)
        expect(call.a.session.queued()).toBe(0)
        listen(100)
        expect(call.a.session.played()).toBe(stands)
        expect(received).toBe(stands)
      }
    }
    expect(received).toBeGreaterThan(100_000)
  })

  it('a flush silences playout within one packet and does not delay later audio', async () => {
    const call = await VirtualCall.start({ conditions: { latencyMs: 0 } })
    call.a.session.play(markedAudio(0, 40_000, 5))
    call.time.advance(1005)
    const stands = call.a.session.flush()
    const ends = call.a.session.play(markedAudio(0, 800))
    expect(ends).toBe(stands + 800)
    call.time.advance(1000)
    await call.b.session.close()
    const { left } = call.b.plane.captured(call.b.session)
    const old = markedAudio(0, stands, 5)
    const first = left.findIndex(s => s !== 0)
    expect([...left.subarray(first, first + stands)]).toEqual([...old])
    expect([...left.subarray(first + stands, first + stands + 800)]).toEqual([...markedAudio(0, 800)])
    expect(stands).toBeGreaterThanOrEqual(1005 * 8 - 320)
  })

  it('playout reports progress at least every 200 ms, and its end at once', async () => {
    const call = await VirtualCall.start()
    call.run(1000)
    expect(call.a.session.play(markedAudio(0, 24_100))).toBe(24_100)
    call.run(5000)
    const progress = call.a.events.filter(e => e.type === 'play-progress')
    expect(progress.at(-1)).toMatchObject({ position: 24_100, idle: true })
    expect(progress.filter(e => e.idle)).toHaveLength(1)
    let last = progress[0]!
    for (const event of progress.slice(1)) {
      expect(event.atSample - last.atSample).toBeLessThanOrEqual(1600)
      expect(event.position).toBeGreaterThanOrEqual(last.position)
      last = event
    }
    // 24100 samples begun in a slot at most 20 ms away.
    expect(last.atSample).toBeLessThanOrEqual(8000 + 160 + 24_100 + 160)
  })

  it('minutes of audio from one play call have no gap', async () => {
    const call = await VirtualCall.start()
    call.say(call.a, 5 * 60 * 8000)
    call.run(5 * 60_000 + 1000)
    expect(call.b.listener).toMatchObject({ heard: 5 * 60 * 8000, brokenAt: -1, gaps: 0 })
  })

  it.each([10, 20, 30, 40, 50, 60])('a session sends every %d ms where that packet time was agreed', async ptimeMs => {
    const call = await VirtualCall.start({ ptimeMs })
    call.a.talking = true
    call.run(6000)
    call.a.talking = false
    call.run(1000)
    expect(call.b.listener).toMatchObject({ heard: call.a.sentSamples, brokenAt: -1, gaps: 0 })
    const { packetsSent } = await call.a.session.statistics()
    expect(Math.abs(packetsSent - 7000 / ptimeMs)).toBeLessThanOrEqual(1)
  })

  it('the stream continues when the packet time changes during the call', async () => {
    const call = await VirtualCall.start()
    call.a.talking = true
    for (const ptimeMs of [30, 20, 60, 10, 20]) {
      call.run(1000)
      call.apply({ a: { ptimeMs } })
    }
    call.run(1000)
    call.a.talking = false
    call.run(1000)
    expect(call.b.listener).toMatchObject({ heard: call.a.sentSamples, brokenAt: -1 })
    expect(await call.b.session.statistics()).toMatchObject({ packetsLost: 0, concealedSamples: 0 })
  })

  it('a session carries A-law', async () => {
    const call = await VirtualCall.start({ codec: 'PCMA' })
    const tone = Int16Array.from({ length: 8000 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * i) / 8000))
    call.a.session.play(tone)
    call.run(1500)
    await call.b.session.close()
    const { left } = call.b.plane.captured(call.b.session)
    const first = left.findIndex(s => Math.abs(s) > 100)
    expect(first).toBeGreaterThan(0)
    for (let i = 10; i < 7900; i++) expect(Math.abs(left[first + i - 1]! - tone[i]!)).toBeLessThan(400)
  })
})
