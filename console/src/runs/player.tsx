import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import WaveSurfer from 'wavesurfer.js'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { useTheme } from '../shell/theme.tsx'
import { clock } from '../ui/duration.ts'
import { Fault, Section } from '../ui/parts.tsx'
import type { CallTimeline } from './call-timeline.ts'
import { Lanes } from './lanes.tsx'
import { isEnded, type Run } from './run-words.tsx'
import { type WavPeaks, wavPeaks } from './wav-peaks.ts'

/** A longer recording is not loaded for its waveform: 64 MiB are more than an hour at 8 kHz. */
const MAX_BYTES = 64 * 1024 * 1024
const PARTS = 4000
const SPEEDS = [1, 1.5, 2] as const
const ZOOMS = [0, 30, 80] as const

export interface CallPlayer {
  readonly audio: RefObject<HTMLAudioElement | null>
  /** URL of the audio; null: there is none (yet). */
  readonly source: string | null
  readonly peaks: WavPeaks | null
  readonly state: string | null
  readonly fault: unknown
  /** Position in ms. */
  readonly atMs: number
  readonly endMs: number
  readonly isPlaying: boolean
  /** Plays from this position. */
  playFrom(ms: number): void
  seek(ms: number): void
  toggle(): void
}

/** The recording of a run and where it plays. */
export function usePlayer(run: Run, timelineEndMs: number): CallPlayer {
  const audio = useRef<HTMLAudioElement>(null)
  const recording = useRecording(run)
  const [atMs, setAt] = useState(0)
  const [isPlaying, setPlaying] = useState(false)
  const source = recording.data?.source ?? null
  useEffect(() => {
    const element = audio.current
    if (element === null || source === null) return
    let frame = 0
    const follow = () => {
      setAt(element.currentTime * 1000)
      if (!element.paused) frame = requestAnimationFrame(follow)
    }
    const onPlay = () => {
      setPlaying(true)
      follow()
    }
    const onPause = () => setPlaying(false)
    const listeners = [
      ['play', onPlay],
      ['pause', onPause],
      ['seeked', follow],
    ] as const
    for (const [name, listener] of listeners) element.addEventListener(name, listener)
    return () => {
      cancelAnimationFrame(frame)
      for (const [name, listener] of listeners) element.removeEventListener(name, listener)
    }
  }, [source])
  const seek = (ms: number) => {
    if (audio.current !== null) audio.current.currentTime = ms / 1000
    setAt(ms)
  }
  const play = () => void audio.current?.play().catch(() => setPlaying(false))
  return {
    audio,
    source,
    peaks: recording.data?.peaks ?? null,
    state: recording.data?.state ?? null,
    fault: recording.error,
    atMs,
    endMs: Math.max(timelineEndMs, recording.data?.peaks?.durationMs ?? 0),
    isPlaying,
    seek,
    playFrom(ms) {
      seek(ms)
      play()
    },
    toggle() {
      if (audio.current?.paused === false) audio.current.pause()
      else play()
    },
  }
}

/** Reads the recording once the run has ended, as bytes: peaks of both channels, and a URL that plays them. */
function useRecording(run: Run) {
  const api = useApi()
  const recording = useQuery({
    queryKey: ['runs.recording', run.run_id, run.state],
    enabled: run.channel !== 'cloud' && isEnded(run),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const { state, media_url, content } = await api.runs.recording({ params: { run_id: run.run_id } }, { signal })
      if (media_url === null) return { state, source: null, peaks: null }
      // The link names the API's public address; this page has come from the same server.
      const { pathname, search } = new URL(media_url)
      if ((content?.byte_size ?? 0) > MAX_BYTES) return { state, source: `${pathname}${search}`, peaks: null }
      const answer = await fetch(`${pathname}${search}`, { signal })
      if (!answer.ok) throw new Error(`the recording could not be read: HTTP ${answer.status}`)
      const blob = await answer.blob()
      const peaks = wavPeaks(new Uint8Array(await blob.arrayBuffer()), PARTS)
      return { state, source: URL.createObjectURL(blob), peaks }
    },
  })
  const source = recording.data?.source
  useEffect(() => {
    if (source?.startsWith('blob:') === true) return () => URL.revokeObjectURL(source)
    return undefined
  }, [source])
  return recording
}

interface PlayerProps {
  readonly player: CallPlayer
  readonly timeline: CallTimeline
}

/** Both channels of the recording, with everything that happened laid over them on one time axis. */
export function Player({ player, timeline }: PlayerProps) {
  const { text, word } = useTexts()
  const [zoom, setZoom] = useState(0)
  const [speed, setSpeed] = useState(0)
  const { audio, source, peaks, state, atMs, endMs } = player
  const rate = SPEEDS[speed]!
  useEffect(() => {
    if (audio.current !== null) audio.current.playbackRate = rate
  }, [audio, rate])
  const pixels = ZOOMS[zoom]!
  return (
    <Section
      title={text('player.title')}
      actions={
        <div className="player-tools">
          {source !== null && (
            <>
              <button type="button" className="button primary small" onClick={player.toggle}>
                <Icon name={player.isPlaying ? 'pause' : 'play'} size={16} />
                {text(player.isPlaying ? 'player.pause' : 'player.play')}
              </button>
              <button
                type="button"
                className="button small"
                aria-label={text('player.speed', { rate })}
                onClick={() => setSpeed((speed + 1) % SPEEDS.length)}
              >
                {rate}×
              </button>
            </>
          )}
          <span className="player-clock">
            {clock(atMs)} / {clock(endMs)}
          </span>
          <button type="button" className="button small" onClick={() => setZoom((zoom + 1) % ZOOMS.length)}>
            {text('player.zoom')}
          </button>
        </div>
      }
    >
      {player.fault !== null && <Fault error={player.fault} />}
      {source === null && state !== null && <p className="hint">{word('recording', state)}</p>}
      {/* biome-ignore lint/a11y/useMediaCaption: the transcript is below */}
      <audio ref={audio} src={source ?? undefined} preload="auto" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="axis" aria-label={text('player.axis')} tabIndex={0}>
        <div className="axis-inner" ref={useMinimumWidth((pixels * endMs) / 1000)}>
          {peaks !== null && source !== null && <Waveform player={player} peaks={peaks} />}
          <Lanes timeline={timeline} endMs={endMs} onSeek={player.playFrom} />
          {source !== null && <Playhead share={endMs === 0 ? 0 : atMs / endMs} />}
        </div>
      </section>
    </Section>
  )
}

/** Sets styles by script: the policy of the page forbids style attributes in HTML, not these. */
function useMinimumWidth(pixels: number) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (element.current !== null) element.current.style.minWidth = `${Math.min(30_000, Math.round(pixels))}px`
  }, [pixels])
  return element
}

function Playhead({ share }: { readonly share: number }) {
  return <div className="playhead" style={{ left: `${Math.min(100, share * 100)}%` }} aria-hidden="true" />
}

function Waveform({ player, peaks }: { readonly player: CallPlayer; readonly peaks: WavPeaks }) {
  const container = useRef<HTMLDivElement>(null)
  const { theme } = useTheme()
  const { audio, source, endMs } = player
  const { channels } = peaks
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours
  useEffect(() => {
    if (container.current === null || audio.current === null || source === null) return
    const style = getComputedStyle(document.documentElement)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
    const surfer = WaveSurfer.create({
      container: container.current,
      media: audio.current,
      peaks: [...channels],
      duration: peaks.durationMs / 1000,
      cspNonce: nonce,
      height: 56,
      normalize: true,
      cursorWidth: 0,
      hideScrollbar: true,
      barWidth: 2,
      barGap: 1,
      barRadius: 2,
      splitChannels: ['--caller', '--agent'].slice(0, channels.length).map(name => ({
        waveColor: colour(name),
        progressColor: colour(name),
      })),
    })
    return () => surfer.destroy()
  }, [audio, source, peaks, channels, theme])
  // The recording may be shorter than the call's timeline.
  return (
    <div ref={container} className="waveform" style={{ width: `${(peaks.durationMs / Math.max(1, endMs)) * 100}%` }} />
  )
}
