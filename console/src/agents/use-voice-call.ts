import { type AgentCall, call } from '@parley/web'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { accessAt, microphoneFault } from './voice-call.ts'

export interface VoiceCall {
  readonly runId: string
  readonly call: AgentCall
}

/**
 * Calls an agent by the microphone of the browser; the call ends with the component. `start` takes a function that resolves with the
 * version to call, undefined for the live one.
 */
export function useVoiceCall(agentId: string) {
  const api = useApi()
  const { text } = useTexts()
  const queries = useQueryClient()
  const [current, setCurrent] = useState<VoiceCall | null>(null)
  const [isLive, setLive] = useState(false)
  const isGone = useRef(false)
  const start = useMutation({
    mutationFn: async (versionToCall: () => Promise<number | undefined>): Promise<VoiceCall> => {
      // Browsers offer the microphone to secure pages only: TLS or loopback.
      if (navigator.mediaDevices === undefined) throw new Error(text('talk.insecure'))
      const version = await versionToCall()
      const { run_id, web } = await api.runs.create({
        body: {
          agent_id: agentId,
          channel: 'web',
          mode: 'inbound',
          web_kind: 'direct',
          ...(version !== undefined && { version }),
        },
      })
      try {
        if (web === undefined) throw new Error(text('talk.noAccess'))
        return { runId: run_id, call: await call(accessAt(window.location.origin, web)) }
      } catch (error) {
        await api.runs.cancel({ params: { run_id }, body: {} }).catch(() => {})
        const fault = microphoneFault(error)
        throw fault === null ? error : new Error(text(fault))
      }
    },
    onSuccess: started => {
      if (isGone.current) return started.call.hangUp()
      setCurrent(started)
      setLive(true)
      const runsChanged = () => void queries.invalidateQueries({ queryKey: ['runs.list'] })
      runsChanged()
      started.call.on('state', state => {
        setLive(state !== 'ended')
        if (state === 'ended') runsChanged()
      })
    },
  })
  useEffect(() => () => current?.call.hangUp(), [current])
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
    }
  }, [])
  return { start, current, isBusy: start.isPending || isLive }
}
