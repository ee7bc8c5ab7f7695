import { expect, it } from 'vitest'
import { call } from './agent-call.ts'

it('a call by LiveKit is refused before the microphone is asked for, and the error says what to connect with', async () => {
  const access = { kind: 'livekit', url: 'wss://livekit.example', token: 'jwt' } as const
  await expect(call(access)).rejects.toThrow(/by LiveKit.*livekit-client.*web_kind "direct"/)
})
