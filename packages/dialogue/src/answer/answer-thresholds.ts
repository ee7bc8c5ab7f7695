import type { Ms } from '@parley/kernel'

/** Score of the words from which on a class is decided, and by how much it must exceed that of a person. */
export const DECISIVE_SCORE = 1
export const MARGIN_OVER_HUMAN = 0.45
/** A verdict of another machine needs a score that is better by this. */
export const REVISION_MARGIN = 0.3
/** The same, where the verdict is a screener. */
export const SCREENER_MARGIN = 1
/** Score of a class's own words from which on that class is sure; with less it is a machine, and `DOUBTFUL_CLASS` is the confidence. */
export const CLASS_SCORE = 0.6
export const DOUBTFUL_CLASS = 0.6
/** What a beep adds to the score of a mailbox's words: menus are heard before it, and nothing after it. */
export const BEEP_SCORE = 1
/** Score of a person's words from which on a machine of no known class is a screener. */
export const ASKING_SCORE = 0.9

/** A greeting of a person: at most this long, followed by this silence. */
export const SHORT_GREETING_MS: Ms = 1700
export const SHORT_GREETING_SILENCE_MS: Ms = 450
/** Any greeting that is followed by this silence is a person's, who waits for an answer. */
export const ANSWER_SILENCE_MS: Ms = 1300
export const ANSWERED_GREETING_MS: Ms = 5500
/** How long the words of a greeting that has ended are waited for. */
export const WORDS_WAIT_MS: Ms = 700
/** A greeting that goes on for this long is a machine's. */
export const LONG_GREETING_MS: Ms = 6000
/** The same, where some words are a person's. */
export const LONG_HUMAN_GREETING_MS: Ms = 8000
/** Voice without a recognised word for this long is music: that of a queue, rather than behind a person. */
export const WORDLESS_VOICE_MS: Ms = 3000
/** Words that are this late leave open what a long greeting is. */
export const LATE_WORDS_MS: Ms = 2000
export const SOME_HUMAN_SCORE = 0.3
/** What the length of a greeting adds to the score of a machine's words: nothing up to the first length, all of it from the second on. */
export const LENGTH_BONUS = 0.6
/** The same once a person was found: a person who stopped and waited for an answer may talk at length in the next turn. */
export const AFTER_PERSON_BONUS = 0.3
export const BONUS_FROM_MS: Ms = 900
export const BONUS_WHOLE_MS: Ms = 3200
/** A beep counts after this much talk, or this many words. */
export const TALK_BEFORE_BEEP_MS: Ms = 500
export const WORDS_BEFORE_BEEP = 3
/** A shorter tone is no beep: vowels are as steady for 110 to 140 ms. */
export const SHORTEST_BEEP_MS: Ms = 180
/** The same for a tone that is purer than a vowel, in the greeting of a mailbox: lost packets shorten a beep. */
export const SHORTEST_PURE_BEEP_MS: Ms = 150
/** The same for a tone that begins, within the first of these times, a sound of its own after silence: noise and lost packets hide a part of it. */
export const SHORTEST_LONE_BEEP_MS: Ms = 125
export const LONE_SOUND_MS: Ms = 300
export const SILENCE_BEFORE_BEEP_MS: Ms = 250
/** A pure tone this long is a beep whatever follows it. */
export const SURE_PURE_BEEP_MS: Ms = 400
/** Two tones of one frequency with a shorter gap are one. */
export const SPLIT_TONE_MS: Ms = 120
export const SPLIT_TONE_HZ = 10
/** After this time the next part of a beep that a lost packet split is known: a tone is found 130 ms after its start. */
export const SPLIT_BEEP_KNOWN_MS: Ms = 200
/** A tone this long is a beep also where another sound seems to follow, if that ends so soon after it. */
export const SURE_BEEP_MS: Ms = 300
export const BEEP_TAIL_MS: Ms = 160
/** A line without a sound. */
export const NO_SOUND_MS: Ms = 5000
/** A verdict that a person answered stands after this time, and after that many turns that answer the agent. */
export const HUMAN_STANDS_AFTER_MS: Ms = 12_000
export const HUMAN_STANDS_AFTER_TURNS = 2

/** Silence after the greeting of a mailbox, if no beep comes; longer where the greeting announces one. */
export const MESSAGE_SILENCE_MS: Ms = 2500
export const ANNOUNCED_BEEP_SILENCE_MS: Ms = 4000
/** Silence after the question of a screener. */
export const QUESTION_SILENCE_MS: Ms = 700
/** Detection ends at the latest after this time, unless its timeout is longer. */
export const LONGEST_DETECTION_MS: Ms = 90_000
/** Talk of the far end that shows that the greeting goes on. */
export const RESUMED_TALK_MS: Ms = 500
