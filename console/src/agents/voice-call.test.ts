import { expect, it } from 'vitest'
import { accessAt, microphoneFault } from './voice-call.ts'

it('a call goes to the origin of the page, also if the server calls itself by another name', () => {
  const access = {
    url: 'https://parley.example/web/runs/7a1b',
    token: 'wt_1',
    ice_servers: [{ urls: ['turn:turn.example'] }],
  }
  expect(accessAt('http://127.0.0.1:8080', access)).toEqual({
    url: 'http://127.0.0.1:8080/web/runs/7a1b',
    token: 'wt_1',
    ice_servers: [{ urls: ['turn:turn.example'] }],
  })
})

it('a refused and a missing microphone have texts of their own, and another failure has none', () => {
  const named = (name: string) => Object.assign(new Error('Failed'), { name })
  expect(microphoneFault(named('NotAllowedError'))).toBe('talk.refused')
  expect(microphoneFault(named('NotFoundError'))).toBe('talk.noMicrophone')
  expect(microphoneFault(named('TypeError'))).toBeNull()
  expect(microphoneFault('NotAllowedError')).toBeNull()
})
