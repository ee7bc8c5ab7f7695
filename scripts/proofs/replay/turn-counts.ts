/** Turns of replays, by what the replay says and what is true. */
export class TurnCounts {
  rightlyChanged = 0
  wronglyChanged = 0
  missed = 0
  rightlySame = 0

  /**
   * Counts the turns of one replay, which ends with the first turn that it says has changed. `truth`: the first turn that changes; null:
   * none does. Returns whether the replay is right about all of them.
   */
  add(turns: readonly number[], changed: ReadonlySet<number>, truth: number | null): boolean {
    let isRight = true
    for (const turn of turns) {
      const [says, is] = [changed.has(turn), turn === truth]
      if (says) this[is ? 'rightlyChanged' : 'wronglyChanged']++
      else this[is ? 'missed' : 'rightlySame']++
      isRight &&= says === is
    }
    return isRight
  }

  /** Of the turns that the replays said have changed, those that have. */
  get precision(): number {
    return share(this.rightlyChanged, this.wronglyChanged)
  }

  /** Of the turns that have changed, those that the replays named. */
  get recall(): number {
    return share(this.rightlyChanged, this.missed)
  }
}

function share(right: number, wrong: number): number {
  return right + wrong === 0 ? 1 : Number((right / (right + wrong)).toFixed(4))
}
