import type { ParleyClient } from '@parley/client'
import { gathered } from '@parley/web'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import type { Run } from '../runs/run-words.tsx'
import { Icon } from '../shell/icon.tsx'
import { Fault } from '../ui/parts.tsx'

const POLL_MS = 150

/** Plays what both sides of a live call say; neither hears the listener. Listening ends with the button, the call and the page. */
export function ListenButton({ run }: { readonly run: Run }) {
  const api = useApi()
  const { text } = useTexts()
  const [connection, setConnection] = useState<RTCPeerConnection | null>(null)
  const listen = useMutation({
    mutationFn: () => listenTo(api, run.run_id),
    onSuccess: opened => {
      opened.onconnectionstatechange = () => {
        if (opened.connectionState !== 'connected' && opened.connectionState !== 'connecting') setConnection(null)
      }
      setConnection(opened)
    },
  })
  useEffect(() => () => connection?.close(), [connection])
  const isListening = connection !== null
  return (
    <>
      <button
        type="button"
        className="button small"
        aria-pressed={isListening}
        disabled={listen.isPending}
        onClick={() => (isListening ? setConnection(null) : listen.mutate())}
      >
        <Icon name={isListening ? 'pause' : 'play'} size={16} />
        {text(isListening ? 'live.stopListening' : 'live.listen')}
      </button>
      {listen.isError && <Fault error={listen.error} />}
    </>
  )
}

/** Offers to receive the audio of the call, and waits for the engine's answer. */
async function listenTo(api: ParleyClient, run_id: string): Promise<RTCPeerConnection> {
  const connection = new RTCPeerConnection()
  try {
    connection.addTransceiver('audio', { direction: 'recvonly' })
    const audio = new Audio()
    connection.ontrack = ({ streams, track }) => {
      audio.srcObject = streams[0] ?? new MediaStream([track])
      void audio.play().catch(() => {})
    }
    await connection.setLocalDescription()
    await gathered(connection)
    const offer = connection.localDescription?.sdp ?? ''
    let listener = await api.runs.listen({ params: { run_id }, body: { offer } })
    while (listener.state === 'waiting') {
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
      listener = await api.runs.listener({ params: { run_id, listener_id: listener.listener_id } })
    }
    if (listener.answer === null) throw new Error(listener.refusal ?? '')
    await connection.setRemoteDescription({ type: 'answer', sdp: listener.answer })
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
