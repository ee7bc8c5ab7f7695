import { type Ipv4Network, isInIpv4Network } from '../packet-io/ipv4.ts'

/** Says of the addresses of a network whether packets may be sent there because packets came from there. */
export interface SourceRule extends Ipv4Network {
  /** First and last port that the rule is about; default: all. */
  readonly ports?: { readonly from: number; readonly to: number }
  readonly isFollowed: boolean
}

/**
 * The sources that may be answered though no description named them. A tag proves who made a packet, not where it came from:
 * whoever has the keys can write any address into it. To be asked when the source changes, not for each packet.
 */
export class FollowedSources {
  /** How often another source began that is not followed. */
  refused = 0
  #rules: readonly SourceRule[] = []
  /** The source that was refused last. */
  #refusedIpv4 = 0
  #refusedPort = 0

  /** The first rule that holds for a source decides; a source without a rule is followed. */
  apply(rules: readonly SourceRule[]): void {
    this.#rules = rules
    this.#refusedPort = 0
  }

  allows(ipv4: number, port: number): boolean {
    // A refused source that goes on costs and counts no more.
    if (port === this.#refusedPort && ipv4 === this.#refusedIpv4) return false
    if (isFollowed(this.#rules, ipv4, port)) return true
    this.refused++
    this.#refusedIpv4 = ipv4
    this.#refusedPort = port
    return false
  }
}

function isFollowed(rules: readonly SourceRule[], ipv4: number, port: number): boolean {
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!
    const { ports } = rule
    const isAbout = ports === undefined || (port >= ports.from && port <= ports.to)
    if (isAbout && isInIpv4Network(ipv4, rule)) return rule.isFollowed
  }
  return true
}
