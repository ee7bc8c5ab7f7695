import { useTexts } from '../i18n/i18n.tsx'
import { clock } from '../ui/duration.ts'
import { Badge, Empty, Loading, Section } from '../ui/parts.tsx'
import { type Turn, turnAt, wordsOf } from './call-timeline.ts'
import type { CallPlayer } from './player.tsx'

interface TranscriptProps {
  readonly turns: readonly Turn[]
  readonly player: CallPlayer
  readonly isLoading: boolean
}

/** What was said. A click on a word or a time plays the recording from there; the times of words are estimates. */
export function TranscriptCard({ turns, player, isLoading }: TranscriptProps) {
  const { text } = useTexts()
  const heard = player.isPlaying ? turnAt(turns, player.atMs) : null
  return (
    <Section title={text('transcript.title')}>
      {isLoading ? (
        <Loading />
      ) : turns.length === 0 ? (
        <Empty>{text('transcript.empty')}</Empty>
      ) : (
        <>
          {player.source !== null && <p className="hint">{text('transcript.hint')}</p>}
          <ol className="transcript">
            {turns.map(turn => (
              <TurnLine key={turn.index} turn={turn} player={player} isHeard={turn.index === heard} />
            ))}
          </ol>
        </>
      )}
    </Section>
  )
}

function TurnLine({
  turn,
  player,
  isHeard,
}: {
  readonly turn: Turn
  readonly player: CallPlayer
  readonly isHeard: boolean
}) {
  const { text } = useTexts()
  const canPlay = player.source !== null
  return (
    <li className={`${turn.role}${isHeard ? ' heard' : ''}`}>
      <div className="turn-head">
        <strong>{text(turn.role === 'agent' ? 'lane.agent.name' : 'lane.caller.name')}</strong>
        {canPlay ? (
          <button
            type="button"
            className="turn-time"
            aria-label={text('transcript.playFrom', { time: clock(turn.startMs) })}
            onClick={() => player.playFrom(turn.startMs)}
          >
            {clock(turn.startMs)}
          </button>
        ) : (
          <span className="turn-time">{clock(turn.startMs)}</span>
        )}
        {turn.nodeId !== null && <span className="turn-node code">{turn.nodeId}</span>}
        {turn.interrupted && <Badge tone="warn">{text('transcript.interrupted')}</Badge>}
      </div>
      <p>
        {canPlay
          ? wordsOf(turn).map((word, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the words of a turn do not move
              <Word key={index} word={word} player={player} isHeard={isHeard} />
            ))
          : turn.text}
      </p>
    </li>
  )
}

interface WordProps {
  readonly word: { readonly text: string; readonly startMs: number }
  readonly player: CallPlayer
  readonly isHeard: boolean
}

/** Reached by pointer; by keyboard the time of the turn does the same. */
function Word({ word, player, isHeard }: WordProps) {
  const isPast = isHeard && word.startMs <= player.atMs
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        className={isPast ? 'word past' : 'word'}
        onClick={() => player.playFrom(word.startMs)}
      >
        {word.text}
      </button>{' '}
    </>
  )
}
