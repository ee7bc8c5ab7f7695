import { describe, expect, it } from 'vitest'
import { BufferedEmitter } from './buffered-emitter.ts'

describe('a buffered emitter', () => {
  it('a buffered emitter delivers what happened before the first listener to that listener, in order, then what follows', () => {
    const emitter = new BufferedEmitter<number>()
    emitter.emit(1)
    emitter.emit(2)
    expect(emitter.waiting).toBe(2)
    const first: number[] = []
    const second: number[] = []
    emitter.listen(event => first.push(event))
    expect(emitter.waiting).toBe(0)
    emitter.listen(event => second.push(event))
    emitter.emit(3)
    expect([first, second]).toEqual([[1, 2, 3], [3]])
  })

  it('a buffered emitter stores nothing after its listener was removed', () => {
    const emitter = new BufferedEmitter<number>()
    emitter.listen(() => {})()
    emitter.emit(1)
    const late: number[] = []
    emitter.listen(event => late.push(event))
    expect([late, emitter.waiting]).toEqual([[], 0])
  })

  it('a buffered emitter delivers the other events although the listener throws at one of them', () => {
    const errors: unknown[] = []
    const emitter = new BufferedEmitter<number>({ onListenerError: error => errors.push(error) })
    emitter.emit(1)
    emitter.emit(2)
    const seen: number[] = []
    emitter.listen(event => {
      seen.push(event)
      if (event === 1) throw new Error('listener bug')
    })
    expect(seen).toEqual([1, 2])
    expect(errors).toMatchObject([{ message: 'listener bug' }])
  })

  it('with a schedule delivers one event per call of deliverOne, and schedules nothing before a listener was added', () => {
    let scheduled = 0
    const emitter = new BufferedEmitter<string>({ schedule: () => scheduled++ })
    emitter.emit('early')
    expect([scheduled, emitter.deliverOne()]).toEqual([0, false])
    const seen: string[] = []
    emitter.listen(event => seen.push(event))
    emitter.emit('late')
    expect([scheduled, seen]).toEqual([2, []])
    expect([emitter.deliverOne(), seen]).toEqual([true, ['early']])
    expect([emitter.deliverOne(), emitter.deliverOne(), seen]).toEqual([true, false, ['early', 'late']])
  })
})
