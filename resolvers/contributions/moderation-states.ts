// The states of a contribution and the actions that lead to them.

export type StateId = 'pending' | 'approved' | 'rejected'
export type ActionId = 'approve' | 'reject' | 'reopen'

export interface State {
  readonly id: StateId
  readonly label: string
  readonly public: boolean
}

export interface Action {
  readonly id: ActionId
  readonly label: string
  readonly resultingState: State
}

export const STATES: Readonly<Record<StateId, State>> = {
  pending: { id: 'pending', label: 'Waiting for a moderator', public: false },
  approved: { id: 'approved', label: 'Approved', public: true },
  rejected: { id: 'rejected', label: 'Rejected', public: false },
}

export const ACTIONS: Readonly<Record<ActionId, Action>> = {
  approve: { id: 'approve', label: 'Approve', resultingState: STATES.approved },
  reject: { id: 'reject', label: 'Reject', resultingState: STATES.rejected },
  reopen: { id: 'reopen', label: 'Put back into the queue', resultingState: STATES.pending },
}

export const isAction = (id: string): id is ActionId => Object.hasOwn(ACTIONS, id)
export const isState = (id: string): id is StateId => Object.hasOwn(STATES, id)
