/** An adapter to a service, measured against the fake of that service. */
export interface AdapterSubject {
  /** `--adapter NAME`. */
  readonly name: string
  /** In a process of its own: its work is not counted. */
  openFake(): Promise<{ readonly url: string; close(): Promise<void> }>
  /** In the measured process. */
  open(url: string): AdapterUnderLoad
}

export interface AdapterUnderLoad {
  /** One call: `seconds` of audio, through the adapter. Rejects when anything went wrong. */
  call(seconds: number): Promise<CallFigures>
  close(): Promise<void>
}

export interface CallFigures {
  /** Of audio that went through, seconds. */
  readonly audioS: number
  /** From asking until the first that came: audio, a word, a token; ms. */
  readonly firstMs: readonly number[]
}

/** The message of the fake's process. */
export interface FakeReady {
  readonly url: string
}
