import type { Evidence, WordSpan } from '../evidence.ts'
import type { Language } from '../language.ts'
import { chosenOf, numbersIn } from '../numbers.ts'
import { membersOf, type Schema } from '../property.ts'
import { inWords } from '../tool-result.ts'
import type { Turn } from '../turn.ts'
import { vocabulary } from '../vocabulary.ts'
import { fold, type Word, wordsOf } from '../words.ts'

type Member = string | number

/** Words after which the caller corrects an earlier choice. */
const CORRECTIONS = new Set('no actually rather instead sorry wait mejor perdon digo sino'.split(' '))
const YES = new Set(['yes', 'si', 'true', 'y'])
const NO = new Set(['no', 'false', 'n'])

/**
 * The enum member that the turn names, regardless of case, accents and plural; else, for a yes or no, a member that
 * means it; else the offered member at the given position, or the single member that the question proposed, for a yes.
 */
export function mentionedMember(
  schema: Schema,
  evidence: Evidence,
  requested: boolean,
  language: Language,
): Member | undefined {
  const { turn, question } = evidence
  const named = mentions(membersOf(schema), turn, language)
  if (named.length > 0) return corrected(named, turn)
  const members = membersOf(schema)
  if (requested && turn.polarity !== null) {
    const answers = turn.polarity === 'yes' ? YES : NO
    const answer = members.find(member => answers.has(fold(String(member))))
    if (answer !== undefined) return answer
  }
  const offered = mentions(members, question, language)
  const chosen = requested ? chosenOf(offered, turn.words, language) : undefined
  if (chosen !== undefined) return chosen.member
  return evidence.agrees && offered.length === 1 ? offered[0]!.member : undefined
}

/** All members that the turn names, in the order of the turn. */
export function mentionedMembers(schema: Schema, turn: Turn, language: Language): Member[] {
  return [...new Set(mentions(membersOf(schema), turn, language).map(({ member }) => member))]
}

/** The words of the turn that name members. */
export function memberSpans(schema: Schema, turn: Turn, language: Language): WordSpan[] {
  return mentions(membersOf(schema), turn, language).map(({ at, length }) => ({ from: at, to: at + length }))
}

interface Mention {
  readonly member: Member
  readonly at: number
  readonly length: number
}

function corrected(named: readonly Mention[], turn: Turn): Member {
  const correction = turn.words.findLastIndex(word => CORRECTIONS.has(word.folded))
  const afterwards = named.find(({ at }) => at > correction)
  return (afterwards ?? named[0]!).member
}

function mentions(members: readonly Member[], turn: Turn, language: Language): Mention[] {
  const found = members.flatMap(member => mentionOf(member, turn, language))
  // A mention of "extra large" is not also a mention of "large".
  return found
    .filter(a => !found.some(b => b.length > a.length && b.at <= a.at && a.at < b.at + b.length))
    .sort((a, b) => a.at - b.at)
}

function mentionOf(member: Member, turn: Turn, language: Language): Mention[] {
  // A "yes" or "no" is a member only as the answer to the question about it.
  if (YES.has(fold(String(member))) || NO.has(fold(String(member)))) return []
  const wanted = wordsOf(inWords(String(member)), language)
  const number = numbersIn(wanted, language)
  if (number.length === 1 && number[0]!.to - number[0]!.from === wanted.length) {
    const spoken = numbersIn(turn.words, language).find(({ value }) => value === number[0]!.value)
    if (spoken !== undefined) return [{ member, at: spoken.from, length: spoken.to - spoken.from }]
    return turn.statedStems.has(`#${number[0]!.value}`) ? [{ member, at: 0, length: 1 }] : []
  }
  const at = wanted.length === 0 ? -1 : turn.words.findIndex((_word, i) => occursAt(turn, i, wanted))
  if (at >= 0) return [{ member, at, length: wanted.length }]
  const synonym = wanted.length === 1 ? synonymIn(turn, wanted[0]!, language) : -1
  return synonym < 0 ? [] : [{ member, at: synonym, length: 1 }]
}

function occursAt(turn: Turn, at: number, wanted: readonly Word[]): boolean {
  return wanted.every((word, i) => {
    const spoken = turn.words[at + i]
    return spoken !== undefined && spoken.stem === word.stem && !turn.negatedStems.has(spoken.stem)
  })
}

function synonymIn(turn: Turn, wanted: Word, language: Language): number {
  const { groupOf } = vocabulary(language)
  const group = groupOf.get(wanted.stem)
  if (group === undefined) return -1
  return turn.words.findIndex(word => groupOf.get(word.stem) === group && !turn.negatedStems.has(word.stem))
}
