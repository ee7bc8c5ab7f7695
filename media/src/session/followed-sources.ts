import { type Ipv4Network, isInIpv4Network } from '../packet-io/ipv4.ts'

/** Says of the addresses of a network whether packets may be sent there because packets came from there. */
export interface SourceRule extends Ipv4Network {
  /** First and last port that the rule is about; default: all. */
  readonly ports?: { readonly from: number; readonly to: number }
  readonly isFollowed: boolean
}

/** Rules in their order, each as network, bits of its prefix, first and last port, and 1 or 0 for `isFollowed`. */
export type SourceRules = Float64Array

const WORDS_PER_RULE = 5
const LAST_PORT = 65_535

/** The rules as numbers: a call's parameters are sent to its media thread, where a list of objects takes ten times as long to be read. */
export function packSourceRules(rules: readonly SourceRule[]): SourceRules {
  return Float64Array.from(
    rules.flatMap(({ ipv4, prefixBits, ports, isFollowed }) => [
      ipv4,
      prefixBits,
      ports?.from ?? 0,
      ports?.to ?? LAST_PORT,
      isFollowed ? 1 : 0,
    ]),
  )
}

/**
 * The sources that may be answered though no description named them. A tag proves who made a packet, not where it came from:
 * whoever has the keys can write any address into it. To be asked when the source changes, not for each packet.
 */
export class FollowedSources {
  /** How often another source began that is not followed. */
  refused = 0
  #rules: SourceRules | null = null
  /** The source that was refused last. */
  #refusedIpv4 = 0
  #refusedPort = 0

  /** The first rule that holds for a source decides; a source without a rule is followed. Null: there are no rules. */
  apply(rules: SourceRules | null): void {
    this.#rules = rules
    this.#refusedPort = 0
  }

  allows(ipv4: number, port: number): boolean {
    // A refused source that goes on costs and counts no more.
    if (port === this.#refusedPort && ipv4 === this.#refusedIpv4) return false
    if (this.#rules === null || isFollowed(this.#rules, ipv4, port)) return true
    this.refused++
    this.#refusedIpv4 = ipv4
    this.#refusedPort = port
    return false
  }
}

function isFollowed(rules: SourceRules, ipv4: number, port: number): boolean {
  for (let at = 0; at < rules.length; at += WORDS_PER_RULE) {
    const isAbout = port >= rules[at + 2]! && port <= rules[at + 3]!
    const network = { ipv4: rules[at]!, prefixBits: rules[at + 1]! }
    if (isAbout && isInIpv4Network(ipv4, network)) return rules[at + 4] === 1
  }
  return true
}
