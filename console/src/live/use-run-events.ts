import { useEffect, useState } from 'react'
import { useApi } from '../api/api.tsx'
import type { TimelineItem } from '../runs/call-timeline.ts'

interface RunEvents {
  readonly items: readonly TimelineItem[]
  readonly fault: unknown
}

const NONE: RunEvents = { items: [], fault: null }

/** The timeline of a run as it is written, from its beginning. Null: no run. */
export function useRunEvents(runId: string | null): RunEvents {
  const api = useApi()
  const [events, setEvents] = useState<RunEvents>(NONE)
  useEffect(() => {
    setEvents(NONE)
    if (runId === null) return
    const ending = new AbortController()
    const follow = async () => {
      try {
        for await (const item of api.runs.events({ params: { run_id: runId } }, { signal: ending.signal }))
          setEvents(({ items, fault }) => ({ items: [...items, item], fault }))
      } catch (fault) {
        if (!ending.signal.aborted) setEvents(({ items }) => ({ items, fault }))
      }
    }
    void follow()
    return () => ending.abort()
  }, [api, runId])
  return events
}
