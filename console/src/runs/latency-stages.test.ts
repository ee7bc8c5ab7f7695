import { expect, it } from 'vitest'
import type { StageLatency, Turn } from './call-timeline.ts'
import { stageBars } from './latency-stages.ts'

const turn = (index: number, latency: StageLatency | null): Turn => ({
  index,
  role: 'agent',
  text: '',
  startMs: index,
  endMs: index,
  interrupted: false,
  nodeId: null,
  latency,
})

it('each measured answer has a bar whose parts are relative to the slowest answer', () => {
  const bars = stageBars([
    turn(0, { e2e: 500, endpointing: 250, stt: null, llm: 50, tts: 200, engine: 0 }),
    turn(1, null),
    turn(2, { e2e: null, endpointing: 400, stt: 0, llm: 400, tts: 200, engine: null }),
  ])
  expect(bars.map(({ totalMs }) => totalMs)).toEqual([500, 1000])
  expect(bars[0]!.parts.map(({ stage, share }) => [stage, share])).toEqual([
    ['endpointing', 0.25],
    ['llm', 0.05],
    ['tts', 0.2],
  ])
})
