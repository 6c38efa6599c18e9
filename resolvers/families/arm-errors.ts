// What every management service refuses, by the codes that their clients know.
import { fault } from '../kernel/fault.ts'

export const SubscriptionNotFound = fault('SubscriptionNotFound', 404)
export const ResourceNotFound = fault('ResourceNotFound', 404)
export const ParentResourceNotFound = fault('ParentResourceNotFound', 404)
export const InvalidResourceReference = fault('InvalidResourceReference', 400)
export const CannotDeleteResource = fault('CannotDeleteResource', 409)
export const InvalidResourceLocation = fault('InvalidResourceLocation', 409)
export const PropertyChangeNotAllowed = fault('PropertyChangeNotAllowed', 409)
export const AnotherOperationInProgress = fault('AnotherOperationInProgress', 409)
