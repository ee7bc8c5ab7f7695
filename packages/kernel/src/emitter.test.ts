import { describe, expect, it } from 'vitest'
import { Emitter } from './emitter.ts'

describe('an emitter', () => {
  it('when a listener throws, the other listeners are called all the same', () => {
    const errors: unknown[] = []
    const emitter = new Emitter<number>(error => errors.push(error))
    const heard: number[] = []
    emitter.listen(() => {
      throw new Error('listener bug')
    })
    emitter.listen(event => heard.push(event))
    emitter.emit(7)
    expect(heard).toEqual([7])
    expect(errors).toMatchObject([{ message: 'listener bug' }])
  })

  it('an emitter never calls a removed listener again, even within the same emit', () => {
    const emitter = new Emitter<string>()
    const heard: string[] = []
    emitter.listen(() => removeSecond())
    const removeSecond = emitter.listen(event => heard.push(event))
    emitter.emit('a')
    expect(heard).toEqual([])
    expect(emitter.listenerCount).toBe(1)
  })

  it('an emitter calls a function twice that was added twice, and each removal removes one entry', () => {
    const emitter = new Emitter<string>()
    const heard: string[] = []
    const listener = (event: string) => heard.push(event)
    const remove = emitter.listen(listener)
    emitter.listen(listener)
    emitter.emit('a')
    remove()
    remove()
    emitter.emit('b')
    expect(heard).toEqual(['a', 'a', 'b'])
  })

  it('an emitter delivers only the next event to a listener that is added during an emit', () => {
    const emitter = new Emitter<string>()
    const heard: string[] = []
    const once = emitter.listen(() => {
      once()
      emitter.listen(event => heard.push(event))
    })
    emitter.emit('a')
    emitter.emit('b')
    expect(heard).toEqual(['b'])
  })
})
