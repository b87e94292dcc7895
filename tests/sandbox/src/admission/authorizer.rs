//! What admission asks the authorizer.

use super::{Review, expression::Question};

/// Whether the user of the request, or an account, may do something.
pub(super) fn allows(review: &Review<'_>, question: &Question) -> bool {
    let _ = question;
    review.asked.call.user.is_master()
}
