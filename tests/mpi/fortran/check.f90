! Ends the program with an error unless `holds`. Used by every program of this folder.
subroutine check(holds, number)
  implicit none
  logical, intent(in) :: holds
  integer, intent(in) :: number
  if (.not. holds) then
    print *, 'check failed: ', number
    error stop 1
  end if
end subroutine
