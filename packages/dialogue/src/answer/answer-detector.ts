import type { Machine, Ms } from '@parley/kernel'
import {
  AFTER_PERSON_BONUS,
  ANNOUNCED_BEEP_SILENCE_MS,
  ANSWER_SILENCE_MS,
  ANSWERED_GREETING_MS,
  ASKING_SCORE,
  BEEP_SCORE,
  BONUS_FROM_MS,
  BONUS_WHOLE_MS,
  CLASS_SCORE,
  DECISIVE_SCORE,
  DOUBTFUL_CLASS,
  HUMAN_STANDS_AFTER_MS,
  HUMAN_STANDS_AFTER_TURNS,
  LATE_WORDS_MS,
  LENGTH_BONUS,
  LONG_GREETING_MS,
  LONG_HUMAN_GREETING_MS,
  LONGEST_DETECTION_MS,
  MARGIN_OVER_HUMAN,
  MESSAGE_SILENCE_MS,
  NO_SOUND_MS,
  QUESTION_SILENCE_MS,
  REVISION_MARGIN,
  SCREENER_MARGIN,
  SHORT_GREETING_MS,
  SHORT_GREETING_SILENCE_MS,
  SOME_HUMAN_SCORE,
  TALK_BEFORE_BEEP_MS,
  WORDLESS_VOICE_MS,
  WORDS_BEFORE_BEEP,
  WORDS_WAIT_MS,
} from './answer-thresholds.ts'
import { BeepAfterGreeting } from './beep-after-greeting.ts'
import { FarEndTalk } from './far-end-talk.ts'
import { GreetingEnd } from './greeting-end.ts'
import { GreetingWords, type WordScore } from './greeting-words.ts'
import { normalisedSpeech, type PhrasePattern, phrasePatterns, type SpokenClass } from './phrase-patterns.ts'
import {
  type AnswerClass,
  type AnswerInput,
  type AnswerOptions,
  type AnswerOutput,
  type Evidence,
  isMachine,
  type Verdict,
} from './protocol.ts'

/** CNG, the calling tone of a fax, is also a frequency of beeps. */
const FAX_ONLY_HZ = 1500
const BEEP_ANNOUNCED = / (tone|beep|signal|tono|senal|pitido|bip) /

/** A call is ended only once these are certain, so a doubtful verdict is followed by a certain one. */
const NEEDS_CERTAINTY: ReadonlySet<AnswerClass> = new Set(['voicemail', 'announcement', 'ivr'])

/** How well words fit a class of machines: by phrases of its own, and by those of any recording. */
interface MachineScore extends WordScore {
  readonly class: Exclude<SpokenClass, 'human' | 'recording'>
  readonly recording: number
  /** What speaks against it: words of a person. */
  readonly person: number
}

/**
 * Decides what answered a call, without I/O: from voice activity, tones and words as they come. It decides as early as it is sure
 * and revises a verdict when later sounds contradict it; a verdict that a person answered stands once that person has talked with
 * the agent.
 *
 * What words say is decided as they come; what time shows, such as a silence, in `advance` alone, which comes at once after each input.
 * There, unlike in `handle`, all sound up to now has been passed on: a thread that was late gets the end of a word before the next word,
 * and what lies between them is no silence up to now, but the silence that it was. In `handle` talk is known up to the newest sound, not
 * up to now.
 */
export class AnswerDetector implements Machine<AnswerInput, AnswerOutput> {
  #timeoutMs: Ms
  readonly #talk = new FarEndTalk()
  readonly #phrases: readonly PhrasePattern[]
  #words: GreetingWords
  /** Words since a screener asked and the agent may answer: those of who comes to the phone. */
  #wordsSinceQuestion: GreetingWords | null = null
  /** A screener was answered, and a person may come. */
  #awaitsPerson = false
  readonly #greetingEnd: GreetingEnd
  readonly #outputs: AnswerOutput[] = []
  #answeredAt: Ms | null = null
  /** Start of this detection: the answer, or the last `rearm`. */
  #armedAt: Ms = Number.NEGATIVE_INFINITY
  #verdict: Verdict | null = null
  #verdictAt: Ms = Number.NEGATIVE_INFINITY
  #isOver = false
  /** Turns of the far end that began after sound of the agent. */
  #replies = 0
  #agentSounds = false
  /** The far end was silent while the agent last spoke, as a listener is. */
  #agentWasHeard = false
  /** The newest moment of the line that an input told of. */
  #heardUntil: Ms = Number.NEGATIVE_INFINITY
  /** Voice activity, which tones are as well. */
  #isVoiced = false
  readonly #beep = new BeepAfterGreeting()
  #deadline: Ms | undefined

  /** `phrases`: instead of those of the languages, as a benchmark that leaves some out needs. */
  constructor(options: AnswerOptions, phrases: readonly PhrasePattern[] = phrasePatterns(options.languages)) {
    this.#timeoutMs = options.timeoutMs
    this.#phrases = phrases
    this.#words = new GreetingWords(phrases)
    this.#greetingEnd = new GreetingEnd(this.#talk, output => this.#onGreetingEnd(output))
  }

  /** The verdict that holds now; null: none yet. */
  get verdict(): Verdict | null {
    return this.#verdict
  }

  /** Nothing more is reported: the verdict stands, or the time is over. */
  get isOver(): boolean {
    return this.#isOver
  }

  handle(now: Ms, input: AnswerInput): void {
    if (input.type === 'rearm') return this.#rearm(now, input.timeoutMs)
    if (this.#isOver) return
    this.#heardUntil = Math.max(this.#heardUntil, newestIn(input))
    this.#apply(now, input)
    this.#judgeWords(now, this.#heardUntil)
    this.#deadline = now
  }

  advance(now: Ms): void {
    if (!this.#isOver) this.#settle(now)
  }

  poll(): AnswerOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    return this.#isOver ? undefined : this.#deadline
  }

  #rearm(now: Ms, timeoutMs: Ms): void {
    this.#isOver = false
    this.#timeoutMs = timeoutMs
    this.#armedAt = now
    this.#verdict = null
    this.#replies = 0
    if (this.#wordsSinceQuestion === null) this.#talk.clear()
    this.#words = this.#wordsSinceQuestion ?? new GreetingWords(this.#phrases, now)
    this.#wordsSinceQuestion = null
    this.#greetingEnd.clear()
    this.#awaitsPerson = true
    this.#deadline = now
  }

  /** The words of a screener's question may come after the agent has answered it, and a person may speak meanwhile. */
  #onGreetingEnd(output: AnswerOutput): void {
    this.#outputs.push(output)
    if (output.type !== 'greeting-over' || this.#verdict?.class !== 'screener') return
    this.#wordsSinceQuestion = new GreetingWords(this.#phrases, output.at)
    this.#talk.clear()
  }

  #apply(now: Ms, input: AnswerInput): void {
    switch (input.type) {
      case 'answered':
        return this.#answered(now)
      case 'voice-started':
        this.#isVoiced = true
        this.#countReply()
        this.#judgePause(input.startedAt)
        return this.#talk.start(input.startedAt)
      case 'voice-stopped':
        this.#isVoiced = false
        this.#talk.stop(input.stoppedAt)
        return this.#onSilence(input.stoppedAt)
      case 'partial':
      case 'final':
        this.#wordsSinceQuestion?.hear(now, input.text, input.words, input.type === 'final')
        return this.#words.hear(now, input.text, input.words, input.type === 'final')
      case 'tone-started':
        return this.#toneStarted(input)
      case 'tone-ended':
        return this.#toneEnded(input)
      case 'agent-sound':
        this.#agentSounds = input.on
        if (input.on) this.#agentWasHeard = !this.#talk.isTalking
        return
    }
  }

  #countReply(): void {
    if (this.#agentSounds) this.#agentWasHeard = false
    else if (this.#agentWasHeard && this.#verdict?.class === 'human') {
      this.#agentWasHeard = false
      this.#replies++
    }
  }

  #answered(now: Ms): void {
    this.#answeredAt = now
    this.#armedAt = now
    // Sounds before the answer come from the network; a tone that is audible now goes on.
    this.#words = new GreetingWords(this.#phrases)
    this.#talk.clear()
    this.#verdict = null
  }

  #toneStarted({ tone, hz, at }: AnswerInput & { type: 'tone-started' }): void {
    this.#beep.started(hz, at, this.#talk.soundAt(at))
    this.#talk.toneStarted(at)
    if (tone === 'sit') this.#decide(at, { class: 'announcement', confidence: 0.98, evidence: [{ kind: 'sit' }] })
    const isFax = tone === 'fax' && (hz > FAX_ONLY_HZ || this.#talk.firstAt === null)
    if (isFax && this.#answeredAt !== null)
      this.#decide(at, { class: 'fax', confidence: 0.97, evidence: [{ kind: 'fax-tone' }] })
  }

  #toneEnded(tone: AnswerInput & { type: 'tone-ended' }): void {
    const { at } = tone
    const isMailbox = this.#verdict?.class === 'voicemail'
    const isIsolated = tone.isIsolated || (isMailbox && this.#beep.isSure(tone))
    const isBeep = this.#beep.ended(tone, isMailbox) && this.#answeredAt !== null
    const spoken = this.#talk.spokenMs(at)
    // In noise words are heard where no voice is found.
    const hasGreeted = spoken >= TALK_BEFORE_BEEP_MS || this.#words.count >= WORDS_BEFORE_BEEP
    this.#talk.toneEnded(at, isMailbox && isBeep && isIsolated)
    if (!isBeep || !hasGreeted) return
    // A lost packet may have split the beep, which sounds on as long as there is voice activity.
    if (isIsolated && isMailbox && this.#isVoiced) this.#beep.awaitMore(at)
    else if (isIsolated) this.#onBeep(at)
    else if (isMailbox) this.#beep.awaitSilence()
  }

  #onSilence(at: Ms): void {
    const beepAt = this.#beep.silent(at)
    if (beepAt !== null) this.#onBeep(beepAt)
  }

  #settleBeep(now: Ms): void {
    const overAt = this.#beep.overAt
    if (overAt === null) return
    if (now < overAt) return this.#wake(overAt)
    this.#onBeep(this.#beep.over())
  }

  #onBeep(at: Ms): void {
    this.#greetingEnd.beep(at)
    const { class: current } = this.#verdict ?? {}
    if (current === 'fax' || current === 'announcement' || current === 'mailbox_unavailable') return
    if (current === 'voicemail' || current === 'screener') return
    this.#decide(at, {
      class: 'voicemail',
      confidence: 0.85,
      evidence: [{ kind: 'beep', hz: Math.round(this.#beep.hz) }],
    })
  }

  #settle(now: Ms): void {
    this.#deadline = undefined
    this.#settleBeep(now)
    this.#judgeWords(now, now)
    if (this.#answeredAt === null) return
    this.#judgeTalk(now)
    this.#judgeTime(now)
    if (!this.#isOver) this.#settleGreeting(now)
  }

  /** When the far end was last heard by its words; the start of detection, where there were none. */
  get #lastSign(): Ms {
    return Math.max(this.#armedAt, this.#words.lastWordEndMs)
  }

  #settleGreeting(now: Ms): void {
    const silence = this.#greetingSilence()
    const next = silence === null ? null : this.#greetingEnd.settle(now, this.#lastSign, silence)
    if (next !== null) this.#wake(next)
  }

  /** Silence that ends the greeting of what answered; null: its end does not matter. */
  #greetingSilence(): Ms | null {
    if (this.#verdict === null) return null
    const { class: answer, confidence } = this.#verdict
    if (answer === 'screener') return QUESTION_SILENCE_MS
    // Before a person comes, a screener may talk of calls and persons as a menu or a mailbox does.
    if (this.#awaitsPerson && (answer === 'ivr' || confidence <= DOUBTFUL_CLASS)) return QUESTION_SILENCE_MS
    if (answer !== 'voicemail') return null
    return BEEP_ANNOUNCED.test(normalisedSpeech(this.#words.text)) ? ANNOUNCED_BEEP_SILENCE_MS : MESSAGE_SILENCE_MS
  }

  /** `heardUntil`: up to where the talk is known. */
  #judgeWords(now: Ms, heardUntil: Ms): void {
    const best = this.#bestMachine()
    if (best === undefined) return
    // Before the answer only the network speaks.
    if (this.#answeredAt === null && best.class !== 'announcement') return
    const current = this.#verdict?.class ?? null
    const proof = this.#verdict?.evidence[0]?.kind
    if (proof === 'sit' || proof === 'fax-tone') return
    const isRevision = current !== null && isMachine(current)
    if (isRevision && !this.#revises(best, current)) return
    const score = best.score + best.recording
    if (score + this.#lengthBonus(heardUntil) < DECISIVE_SCORE || score - best.person < MARGIN_OVER_HUMAN) return
    this.#decide(now, {
      class: best.class,
      confidence: best.score < CLASS_SCORE ? DOUBTFUL_CLASS : Math.min(0.99, 0.8 + 0.1 * best.score),
      evidence: [{ kind: 'words', phrases: best.phrases }],
    })
  }

  /** Whether words say better than those so far which machine it is. */
  #revises(best: MachineScore, current: AnswerClass): boolean {
    const isDoubtful = this.#verdict!.confidence <= DOUBTFUL_CLASS
    // A mailbox that takes no message speaks of messages as well.
    if (best.class === 'mailbox_unavailable' && current === 'voicemail') return best.score >= DECISIVE_SCORE
    if (best.class === current) return isDoubtful && best.score >= CLASS_SCORE && NEEDS_CERTAINTY.has(current)
    const proof = this.#verdict!.evidence[0]?.kind
    const words = proof === 'words' || proof === 'beep' ? this.#words.scoreOf(current as SpokenClass) : 0
    const own = words + (proof === 'beep' ? BEEP_SCORE : 0)
    // Screeners speak of tones and messages, too.
    const margin = current === 'screener' ? SCREENER_MARGIN : REVISION_MARGIN
    return best.score >= (isDoubtful ? CLASS_SCORE : DECISIVE_SCORE) && best.score >= own + margin
  }

  /** A long greeting without words of a person adds to the words of a machine. */
  #lengthBonus(heardUntil: Ms): number {
    if (this.#words.scoreOf('human') >= MARGIN_OVER_HUMAN) return 0
    const share = (this.#talk.greetingMs(heardUntil) - BONUS_FROM_MS) / (BONUS_WHOLE_MS - BONUS_FROM_MS)
    const whole = this.#verdict?.class === 'human' ? AFTER_PERSON_BONUS : LENGTH_BONUS
    return whole * Math.max(0, Math.min(1, share))
  }

  /** The best class of a machine. A mailbox that takes no message is first announced as a mailbox. */
  #bestMachine(): MachineScore | undefined {
    const { scores } = this.#words
    const recording = scores.find(score => score.class === 'recording')
    const machines = scores.filter(score => score.class !== 'human' && score !== recording)
    const best = machines.find(score => score.class === 'mailbox_unavailable' && score.score >= 1) ?? machines[0]
    const shared = recording?.phrases ?? []
    const asking = this.#askingMachine(best)
    if (asking !== undefined) return asking
    const person = this.#words.scoreOf('human')
    if (best !== undefined)
      return {
        class: best.class as MachineScore['class'],
        score: best.score,
        recording: recording?.score ?? 0,
        person,
        phrases: [...best.phrases, ...shared],
      }
    return recording && { class: 'voicemail', score: 0, recording: recording.score, person, phrases: shared }
  }

  /** A machine of no known class that asks what a person asks, such as "who is this", is a screener. */
  #askingMachine(best: WordScore | undefined): MachineScore | undefined {
    // A person may speak after music.
    const isDoubtful = this.#verdict?.evidence[0]?.kind === 'words' && this.#verdict.confidence <= DOUBTFUL_CLASS
    if (!isDoubtful || !isMachine(this.#verdict!.class)) return undefined
    const person = this.#words.scores.find(score => score.class === 'human')
    const screener = this.#words.scores.find(score => score.class === 'screener')
    const score = (person?.score ?? 0) + (screener?.score ?? 0)
    if (person === undefined || person.score < ASKING_SCORE || score <= (best?.score ?? 0)) return undefined
    return {
      class: 'screener',
      score,
      recording: 0,
      person: 0,
      phrases: [...(screener?.phrases ?? []), ...person.phrases],
    }
  }

  #judgeTalk(now: Ms): void {
    const talk = this.#talk
    const human = this.#words.scoreOf('human')
    if (!this.#mayBePerson(human)) return
    const greetingMs = talk.greetingMs(now)
    if (this.#verdict === null && talk.isTalking && this.#words.count === 0) {
      if (greetingMs >= WORDLESS_VOICE_MS) return this.#decideWordless(now, greetingMs)
      this.#wake(now + WORDLESS_VOICE_MS - greetingMs)
    }
    if (talk.isTalking && this.#replies === 0 && human < 0.9) {
      const longest = human < SOME_HUMAN_SCORE ? LONG_GREETING_MS : LONG_HUMAN_GREETING_MS
      if (greetingMs >= longest)
        return this.#decide(now, {
          class: 'voicemail',
          // A recogniser may be late, and there may be music.
          confidence: now - this.#words.lastWordEndMs > LATE_WORDS_MS ? DOUBTFUL_CLASS : 0.7,
          evidence: [{ kind: 'long-greeting', spokenMs: Math.round(greetingMs) }],
        })
      this.#wake(now + longest - greetingMs)
    }
    this.#judgeSilence(now, human)
  }

  /** A pause that ends at `until`, as it was judged before if the thread was not late. */
  #judgePause(until: Ms): void {
    const human = this.#words.scoreOf('human')
    if (this.#answeredAt !== null && this.#mayBePerson(human)) this.#judgeSilence(until, human)
  }

  /** Whether talk still shows what answered. A person may speak after music. */
  #mayBePerson(human: number): boolean {
    if (this.#verdict === null || !isMachine(this.#verdict.class)) return true
    return this.#verdict.evidence[0]?.kind === 'wordless-voice' && human >= MARGIN_OVER_HUMAN
  }

  /** Music, or a recogniser that is very late. */
  #decideWordless(now: Ms, forMs: Ms): void {
    this.#decide(now, {
      class: 'ivr',
      confidence: DOUBTFUL_CLASS,
      evidence: [{ kind: 'wordless-voice', forMs: Math.round(forMs) }],
    })
  }

  /** The far end has stopped talking: a person waits for an answer. */
  #judgeSilence(now: Ms, human: number): void {
    const talk = this.#talk
    if (talk.firstAt === null || talk.isTalking || talk.isTone || this.#verdict?.class === 'human') return
    const silentMs = talk.silentMs(now, this.#armedAt)
    // Talk while the agent answered a screener may be the agent's echo.
    if (talk.stoppedAt <= this.#armedAt && this.#words.count === 0) return
    const spokenMs = talk.spokenMs(now)
    const best = this.#bestMachine()
    const machine = best === undefined ? 0 : best.score + best.recording
    if (machine >= DECISIVE_SCORE / 2 && human < machine) {
      // Half a proof: a pause inside an announcement.
      if (silentMs < 2 * ANSWER_SILENCE_MS) return this.#wake(now + 2 * ANSWER_SILENCE_MS - silentMs)
    }
    const isShort = spokenMs <= SHORT_GREETING_MS || human >= 0.9
    const needed = isShort ? SHORT_GREETING_SILENCE_MS : ANSWER_SILENCE_MS
    if (spokenMs > ANSWERED_GREETING_MS && human < 0.9) return
    // The words of the end may still come.
    const hasWords = this.#words.lastWordEndMs >= talk.stoppedAt - 250
    const wait = hasWords ? needed : Math.max(needed, WORDS_WAIT_MS)
    if (silentMs < wait) return this.#wake(now + wait - silentMs)
    this.#decide(now, {
      class: 'human',
      confidence: isShort ? 0.9 : 0.7,
      evidence: [{ kind: 'short-greeting', spokenMs: Math.round(spokenMs) }, ...this.#humanPhrases()],
    })
  }

  #humanPhrases(): Evidence[] {
    const phrases = this.#words.scores.find(score => score.class === 'human')?.phrases
    return phrases === undefined ? [] : [{ kind: 'words', phrases }]
  }

  #judgeTime(now: Ms): void {
    const since = now - this.#armedAt
    if (since >= Math.max(this.#timeoutMs, LONGEST_DETECTION_MS)) this.#isOver = true
    if (this.#verdict === null && this.#talk.firstAt === null && !this.#talk.isTone && this.#words.count === 0) {
      const silent = this.#talk.silentMs(now, this.#armedAt)
      if (silent >= NO_SOUND_MS)
        this.#decide(now, {
          class: 'silence',
          confidence: 0.8,
          evidence: [{ kind: 'no-sound', forMs: Math.round(silent) }],
        })
      else this.#wake(now + NO_SOUND_MS - silent)
    }
    if (this.#verdict?.class === 'human') {
      const stands = now - this.#verdictAt >= HUMAN_STANDS_AFTER_MS || this.#replies >= HUMAN_STANDS_AFTER_TURNS
      if (stands) this.#isOver = true
      else this.#wake(this.#verdictAt + HUMAN_STANDS_AFTER_MS)
      return
    }
    if (this.#verdict !== null) return
    if (since < this.#timeoutMs) return this.#wake(this.#armedAt + this.#timeoutMs)
    this.#isOver = true
    this.#outputs.push({ type: 'undecided' })
  }

  #decide(now: Ms, verdict: Verdict): void {
    if (verdict.class !== this.#verdict?.class) this.#greetingEnd.reopen()
    this.#verdict = verdict
    this.#verdictAt = now
    this.#replies = 0
    this.#outputs.push({ type: 'verdict', verdict })
  }

  #wake(at: Ms): void {
    this.#deadline = Math.min(this.#deadline ?? at, at)
  }
}

/** The newest moment of the line that an input tells of. */
function newestIn(input: AnswerInput): Ms {
  switch (input.type) {
    case 'voice-started':
      return input.startedAt
    case 'voice-stopped':
      return input.stoppedAt
    case 'partial':
    case 'final':
      return input.words.at(-1)?.endMs ?? Number.NEGATIVE_INFINITY
    case 'tone-started':
    case 'tone-ended':
      return input.at
    default:
      return Number.NEGATIVE_INFINITY
  }
}
