import type { LineDamageOptions } from '@parley/phone'

/** What is varied, one at a time; the rest of the line is undamaged. */
export const DIMENSIONS = ['street noise', 'babble', 'echo', 'loss', 'loss in bursts'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** A line on which callers are heard. */
export interface Condition {
  readonly dimension: Dimension
  readonly codec: 'G.711' | 'G.722'
  /** On the axis of the plot; see `AXES`. */
  readonly level: number
  readonly damage: LineDamageOptions
}

/** The axes of the plots. */
export const AXES: Readonly<Record<Dimension, string>> = {
  'street noise': 'SNR, dB (40: no noise)',
  babble: 'SNR, dB (40: no noise)',
  echo: 'level of the echo, dB (-60: none)',
  loss: 'packets lost, %',
  'loss in bursts': 'packets lost, % (four at once)',
}

const QUIET_DB = 40
const SNRS = [QUIET_DB, 20, 15, 10, 5, 0]
const NO_ECHO_DB = -60
const ECHOES = [NO_ECHO_DB, -30, -20, -12]
const ECHO_DELAY_MS = 120
const LOSSES = [0, 1, 3, 5, 10]
const BURST = 4

const LEVELS: Readonly<Record<Dimension, readonly (readonly [level: number, damage: LineDamageOptions])[]>> = {
  'street noise': noise('street'),
  babble: noise('babble'),
  echo: ECHOES.map(levelDb => [levelDb, levelDb === NO_ECHO_DB ? {} : { echo: { levelDb, delayMs: ECHO_DELAY_MS } }]),
  loss: LOSSES.map(percent => [percent, { loss: percent / 100 }]),
  'loss in bursts': LOSSES.map(percent => [percent, { loss: percent / 100, lossBurst: BURST }]),
}

export const CONDITIONS: readonly Condition[] = DIMENSIONS.flatMap(dimension =>
  (['G.711', 'G.722'] as const).flatMap(codec =>
    LEVELS[dimension].map(([level, damage]) => ({ dimension, codec, level, damage })),
  ),
)

function noise(kind: 'street' | 'babble'): (readonly [number, LineDamageOptions])[] {
  return SNRS.map(snrDb => [snrDb, snrDb === QUIET_DB ? {} : { background: { kind, snrDb } }])
}
